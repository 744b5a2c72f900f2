// SPDX-License-Identifier: Apache-2.0
//
// Helpers of the table of hooks for sizes and addresses.
#ifndef INTERPOSE_HOOKS_TABLE_OPERANDS_H_
#define INTERPOSE_HOOKS_TABLE_OPERANDS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/hooks/table/cuda_abi.h"

namespace vramtrack {

inline uint64_t Value(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Returns the value that a call stored at `out`, 0 if `out` is null.
inline uint64_t Out(void* const* out) { return out == nullptr ? 0 : Value(*out); }
inline uint64_t Out(const unsigned long long* out) { return out == nullptr ? 0 : *out; }
inline uint64_t Pointer(const cuda::PitchedPtr* out) { return out == nullptr ? 0 : Value(out->ptr); }

// Keys for cuFFT plans, which are numbers from 0, and for surfaces, whose numbers may equal those of textures. A key is
// never 0 for a valid object.
inline uint64_t PlanKey(int plan) { return uint64_t{1} << 32 | static_cast<uint32_t>(plan); }
inline uint64_t SurfaceKey(uint64_t object) {
  return object == 0 ? 0 : object ^ uint64_t { 1 } << 56;
}

inline uint64_t Size(const cuda::ExternalMemoryHandleDesc* desc) { return desc == nullptr ? 0 : desc->size; }

inline uint64_t Size(const cuda::ExternalMemoryBufferDesc* desc) { return desc == nullptr ? 0 : desc->size; }

// The size and the device of a memory node. `params` may be null if the call was refused.
inline uint64_t NodeBytes(const cuda::MemAllocNodeParams* params) { return params == nullptr ? 0 : params->bytesize; }
inline int NodeDevice(const cuda::MemAllocNodeParams* params) {
  return params == nullptr ? -1 : params->poolProps.location.id;
}

inline uint64_t AtLeastOne(size_t n) { return n == 0 ? 1 : n; }

// Returns the bytes of an extent whose rows have `row_bytes`.
uint64_t Volume(const cuda::Extent& extent, size_t row_bytes);

// These return the bytes of the elements of an array; 0 for unknown formats.
uint64_t Elements(const cuda::ChannelFormatDesc* desc, const cuda::Extent& extent);
uint64_t MipElements(const cuda::ChannelFormatDesc* desc, cuda::Extent extent, unsigned levels);
uint64_t ArrayBytes(const cuda::ArrayDescriptor* desc);
uint64_t Array3DBytes(const cuda::Array3DDescriptor* desc, unsigned levels);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_OPERANDS_H_
