// SPDX-License-Identifier: Apache-2.0
//
// What the rows of the table say of sizes and addresses.
#ifndef INTERPOSE_HOOKS_TABLE_OPERANDS_H_
#define INTERPOSE_HOOKS_TABLE_OPERANDS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/hooks/table/cuda_abi.h"

namespace vramtrack {

inline uint64_t Value(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// What a call has put where it was told to; 0 where that was nowhere.
inline uint64_t Out(void* const* out) { return out == nullptr ? 0 : Value(*out); }
inline uint64_t Out(const unsigned long long* out) { return out == nullptr ? 0 : *out; }
inline uint64_t Pointer(const cuda::PitchedPtr* out) { return out == nullptr ? 0 : Value(out->ptr); }

// Plans are numbers from 0, textures and surfaces numbers of their own: neither may be 0 or each other's.
inline uint64_t PlanKey(int plan) { return uint64_t{1} << 32 | static_cast<uint32_t>(plan); }
inline uint64_t SurfaceKey(uint64_t object) {
  return object == 0 ? 0 : object ^ uint64_t { 1 } << 56;
}

inline uint64_t Size(const cuda::ExternalMemoryHandleDesc* desc) { return desc == nullptr ? 0 : desc->size; }

inline uint64_t Size(const cuda::ExternalMemoryBufferDesc* desc) { return desc == nullptr ? 0 : desc->size; }

// Of a memory node; the parameters may be missing where the call was refused.
inline uint64_t NodeBytes(const cuda::MemAllocNodeParams* params) { return params == nullptr ? 0 : params->bytesize; }
inline int NodeDevice(const cuda::MemAllocNodeParams* params) {
  return params == nullptr ? -1 : params->poolProps.location.id;
}

inline uint64_t AtLeastOne(size_t n) { return n == 0 ? 1 : n; }

// Bytes of rows of `row_bytes`.
uint64_t Volume(const cuda::Extent& extent, size_t row_bytes);

// Bytes of the elements of arrays; 0 for formats that are not known.
uint64_t Elements(const cuda::ChannelFormatDesc* desc, const cuda::Extent& extent);
uint64_t MipElements(const cuda::ChannelFormatDesc* desc, cuda::Extent extent, unsigned levels);
uint64_t ArrayBytes(const cuda::ArrayDescriptor* desc);
uint64_t Array3DBytes(const cuda::Array3DDescriptor* desc, unsigned levels);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_OPERANDS_H_
