// SPDX-License-Identifier: Apache-2.0
//
// The structures of the release that is simulated. With SIMCUPTI_SOURCE memory records name the library that asked.
#ifndef TESTS_SIMCUPTI_RECORD_TYPES_H_
#define TESTS_SIMCUPTI_RECORD_TYPES_H_

#include <cupti.h>

namespace vramtrack::simcupti {

#ifdef SIMCUPTI_SOURCE
using MemoryRecord = CUpti_ActivityMemory4;
#else
using MemoryRecord = CUpti_ActivityMemory3;
#endif
#if SIMCUPTI_VERSION >= 130000
using PoolRecord = CUpti_ActivityMemoryPool3;
using KernelRecord = CUpti_ActivityKernel13;
using CopyRecord = CUpti_ActivityMemcpy7;
using FillRecord = CUpti_ActivityMemset5;
#else
using PoolRecord = CUpti_ActivityMemoryPool2;
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using FillRecord = CUpti_ActivityMemset4;
#endif

// 0 for a kind that is never made.
inline size_t RecordBytes(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(MemoryRecord);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return sizeof(PoolRecord);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(KernelRecord);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CopyRecord);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(FillRecord);
    default:
      return 0;
  }
}

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_RECORD_TYPES_H_
