// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of the CUDA runtime's entry points, made from the table in runtime_api.inc.
#include "interpose/hooks/call.h"
#include "interpose/hooks/cuda_abi.h"
#include "interpose/hooks/real_entry.h"

namespace vramtrack {
namespace {

using namespace cuda;  // NOLINT: the table's parameters are written as CUDA has them

uint64_t Value(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
uint64_t Out(void* const* out) { return out == nullptr ? 0 : Value(*out); }
uint64_t Pointer(const PitchedPtr* out) { return out == nullptr ? 0 : Value(out->ptr); }

uint64_t AtLeastOne(size_t n) { return n == 0 ? 1 : n; }

uint64_t Volume(const Extent& extent, size_t row_bytes) {
  return row_bytes * AtLeastOne(extent.height) * AtLeastOne(extent.depth);
}

uint64_t Elements(const ChannelFormatDesc* desc, const Extent& extent) {
  if (desc == nullptr) return 0;
  const int bits = desc->x + desc->y + desc->z + desc->w;
  return Volume(extent, extent.width * static_cast<size_t>(bits / 8));
}

uint64_t MipElements(const ChannelFormatDesc* desc, Extent extent, unsigned levels) {
  uint64_t bytes = 0;
  for (unsigned level = 0; level < levels && level < 32; ++level) {
    bytes += Elements(desc, extent);
    extent = {AtLeastOne(extent.width / 2), extent.height / 2, extent.depth / 2};
  }
  return bytes;
}

uint64_t Size(const ExternalMemoryHandleDesc* desc) { return desc == nullptr ? 0 : desc->size; }

}  // namespace

#define VRAMTRACK_EXPORT extern "C" __attribute__((visibility("default")))

// Success gives the address, failure the code: never is anything read through a pointer that the real call has refused.
#define VRAMTRACK_ALLOCATES(entry, kind, parameters, arguments, address, asked, given, stream) \
  VRAMTRACK_EXPORT Error entry parameters {                                                    \
    using Function = Error(*) parameters;                                                      \
    const auto real = reinterpret_cast<Function>(RealEntry(Entry::k_##entry));                 \
    if (real == nullptr) return kInitializationError;                                          \
    Call call;                                                                                 \
    if (call.active()) call.CaptureStack();                                                    \
    call.BeforeReal();                                                                         \
    const Error error = real arguments;                                                        \
    call.AfterReal();                                                                          \
    if (!call.active()) return error;                                                          \
    if (error == kSuccess) {                                                                   \
      const uint64_t at = address;                                                             \
      if (at != 0) call.Allocated(schema::kind, at, given, stream);                            \
    } else {                                                                                   \
      call.Failed(schema::kind, error, asked);                                                 \
    }                                                                                          \
    return error;                                                                              \
  }

#define VRAMTRACK_FREES(entry, kind, parameters, arguments, address, stream)   \
  VRAMTRACK_EXPORT Error entry parameters {                                    \
    using Function = Error(*) parameters;                                      \
    const auto real = reinterpret_cast<Function>(RealEntry(Entry::k_##entry)); \
    if (real == nullptr) return kInitializationError;                          \
    Call call;                                                                 \
    if (call.active()) call.Freeing(schema::kind, address, stream);            \
    call.BeforeReal();                                                         \
    const Error error = real arguments;                                        \
    call.AfterReal();                                                          \
    if (error != kSuccess && call.active()) call.FreeFailed(error);            \
    return error;                                                              \
  }

#define VRAMTRACK_OBSERVES(entry, parameters, arguments, learnt)               \
  VRAMTRACK_EXPORT Error entry parameters {                                    \
    using Function = Error(*) parameters;                                      \
    const auto real = reinterpret_cast<Function>(RealEntry(Entry::k_##entry)); \
    if (real == nullptr) return kInitializationError;                          \
    Call call;                                                                 \
    call.BeforeReal();                                                         \
    const Error error = real arguments;                                        \
    call.AfterReal();                                                          \
    if (error == kSuccess && call.active()) learnt;                            \
    return error;                                                              \
  }

#include "interpose/hooks/runtime_api.inc"

// A step is no reason to begin recording: a process that never touches CUDA writes nothing.
VRAMTRACK_EXPORT void vramtrack_step(uint64_t number, double value) {
  if (Session::Running() == nullptr) return;
  Call call;
  if (call.active()) call.Step(number, value);
}

}  // namespace vramtrack
