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
using GraphRecord = CUpti_ActivityGraphTrace2;
using SynchronizationRecord = CUpti_ActivitySynchronization2;
using UnifiedRecord = CUpti_ActivityUnifiedMemoryCounter3;
#else
using PoolRecord = CUpti_ActivityMemoryPool2;
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
using FillRecord = CUpti_ActivityMemset4;
using GraphRecord = CUpti_ActivityGraphTrace;
using SynchronizationRecord = CUpti_ActivitySynchronization;
using UnifiedRecord = CUpti_ActivityUnifiedMemoryCounter2;
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
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(GraphRecord);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(SynchronizationRecord);
    case CUPTI_ACTIVITY_KIND_MARKER:
      return sizeof(CUpti_ActivityMarker2);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return sizeof(UnifiedRecord);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    default:
      return 0;
  }
}

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_RECORD_TYPES_H_
