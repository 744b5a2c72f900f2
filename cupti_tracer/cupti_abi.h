// SPDX-License-Identifier: Apache-2.0
//
// The part of CUPTI's binary interface that the tracer uses, so that it builds without CUPTI and runs with any release
// from 11.8 to 13.x. New releases only append fields to records. //cupti_tracer:cupti_abi_*_test compare it with the
// real headers.
#ifndef CUPTI_TRACER_CUPTI_ABI_H_
#define CUPTI_TRACER_CUPTI_ABI_H_

#include <stddef.h>
#include <stdint.h>

namespace vramtrack::cupti {

enum Result : int {
  kSuccess = 0,
  kMaxLimitReached = 12,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kInvalidKind = 21,
  kNotSupported = 27,
  kInsufficientPrivileges = 35,
  kMultipleSubscribers = 39,
  kVirtualizedInsufficientPrivileges = 40,
};

enum Kind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kConcurrentKernel = 10,
  kMemcpyPeer = 22,
  kMemory2 = 49,
  kMemoryPool = 50,
};

constexpr uint32_t kFlushForced = 1;

struct Activity {
  uint32_t kind;
};

// CUpti_ActivityMemory3 of 11.8 and 12.0. With `source` it is CUpti_ActivityMemory4, which releases with
// cuptiActivityEnableAllocationSource have.
struct Memory {
  uint32_t kind, operation, memory_kind, correlation;
  uint64_t address, bytes, timestamp, pc;
  uint32_t process, device, context, stream;
  const char* name;
  uint32_t is_async, pad;
  uint32_t pool_type, pad2;
  uint64_t pool_address, release_threshold, pool_size, utilized_size;
  const char* source;
};

// CUpti_ActivityMemoryPool2 and 3.
struct MemoryPool {
  uint32_t kind, operation, type, correlation;
  uint32_t process, device;
  uint64_t min_bytes_to_keep, address, size, release_threshold, timestamp, utilized_size;
};

// CUpti_ActivityKernel8 to CUpti_ActivityKernel13.
struct KernelExecution {
  uint32_t kind, unused[3];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t extent[6], shared_memory[2];
  uint32_t local_memory[2], correlation;
  int64_t grid;
  const char* name;
};

// CUpti_ActivityMemcpy5 to CUpti_ActivityMemcpy7.
struct Memcpy {
  uint32_t kind;
  uint8_t copy_kind, source_kind, destination_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
};

// CUpti_ActivityMemcpyPtoP4.
struct MemcpyPeer {
  uint32_t kind;
  uint8_t copy_kind, source_kind, destination_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, other[4], correlation;
};

// CUpti_ActivityMemset4 and 5.
struct Memset {
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory_kind;
};

using RequestBuffer = void (*)(uint8_t** buffer, size_t* bytes, size_t* max_records);
using CompleteBuffer = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t bytes, size_t valid_bytes);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_CUPTI_ABI_H_
