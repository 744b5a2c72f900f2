// SPDX-License-Identifier: Apache-2.0
//
// The tracer's own records and constants against the real headers of a release, whose newest structures the BUILD file
// names.
#include "cupti_tracer/cupti_abi.h"

#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "cupti_tracer/cupti_library.h"

namespace vramtrack::cupti {
namespace {

#define SAME(ours, our_field, theirs, their_field)                                           \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field), "it has moved"); \
  static_assert(sizeof(ours::our_field) == sizeof(theirs::their_field), "it has another size")

SAME(Memory, operation, MEMORY, memoryOperationType);
SAME(Memory, memory_kind, MEMORY, memoryKind);
SAME(Memory, correlation, MEMORY, correlationId);
SAME(Memory, address, MEMORY, address);
SAME(Memory, bytes, MEMORY, bytes);
SAME(Memory, timestamp, MEMORY, timestamp);
SAME(Memory, device, MEMORY, deviceId);
SAME(Memory, stream, MEMORY, streamId);
SAME(Memory, is_async, MEMORY, isAsync);
static_assert(offsetof(Memory, pool_address) == offsetof(MEMORY, memoryPoolConfig.address), "it has moved");

SAME(MemoryPool, operation, MEMORY_POOL, memoryPoolOperationType);
SAME(MemoryPool, correlation, MEMORY_POOL, correlationId);
SAME(MemoryPool, device, MEMORY_POOL, deviceId);
SAME(MemoryPool, address, MEMORY_POOL, address);
SAME(MemoryPool, size, MEMORY_POOL, size);
SAME(MemoryPool, timestamp, MEMORY_POOL, timestamp);

SAME(KernelExecution, start, KERNEL, start);
SAME(KernelExecution, end, KERNEL, end);
SAME(KernelExecution, device, KERNEL, deviceId);
SAME(KernelExecution, stream, KERNEL, streamId);
SAME(KernelExecution, correlation, KERNEL, correlationId);
SAME(KernelExecution, name, KERNEL, name);

SAME(Memcpy, copy_kind, COPY, copyKind);
SAME(Memcpy, bytes, COPY, bytes);
SAME(Memcpy, start, COPY, start);
SAME(Memcpy, end, COPY, end);
SAME(Memcpy, device, COPY, deviceId);
SAME(Memcpy, stream, COPY, streamId);
SAME(Memcpy, correlation, COPY, correlationId);

SAME(MemcpyPeer, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(MemcpyPeer, start, CUpti_ActivityMemcpyPtoP4, start);
SAME(MemcpyPeer, device, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME(MemcpyPeer, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME(MemcpyPeer, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);

SAME(Memset, bytes, FILL, bytes);
SAME(Memset, start, FILL, start);
SAME(Memset, device, FILL, deviceId);
SAME(Memset, stream, FILL, streamId);
SAME(Memset, correlation, FILL, correlationId);
SAME(Memset, memory_kind, FILL, memoryKind);

SAME(GraphTrace, correlation, GRAPH_TRACE, correlationId);
SAME(GraphTrace, start, GRAPH_TRACE, start);
SAME(GraphTrace, device, GRAPH_TRACE, deviceId);
SAME(GraphTrace, graph, GRAPH_TRACE, graphId);
SAME(GraphTrace, stream, GRAPH_TRACE, streamId);

SAME(Synchronization, type, SYNCHRONIZATION, type);
SAME(Synchronization, start, SYNCHRONIZATION, start);
SAME(Synchronization, correlation, SYNCHRONIZATION, correlationId);
SAME(Synchronization, stream, SYNCHRONIZATION, streamId);

SAME(Marker, flags, CUpti_ActivityMarker2, flags);
SAME(Marker, timestamp, CUpti_ActivityMarker2, timestamp);
SAME(Marker, id, CUpti_ActivityMarker2, id);
SAME(Marker, name, CUpti_ActivityMarker2, name);

SAME(UnifiedMemoryCounter, counter, UNIFIED_MEMORY, counterKind);
SAME(UnifiedMemoryCounter, value, UNIFIED_MEMORY, value);
SAME(UnifiedMemoryCounter, start, UNIFIED_MEMORY, start);
SAME(UnifiedMemoryCounter, address, UNIFIED_MEMORY, address);
SAME(UnifiedMemoryCounter, destination, UNIFIED_MEMORY, dstId);

SAME(UnifiedMemoryConfig, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME(UnifiedMemoryConfig, counter, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME(UnifiedMemoryConfig, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
SAME(UnifiedMemoryConfig, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
static_assert(sizeof(UnifiedMemoryConfig) == sizeof(CUpti_ActivityUnifiedMemoryCounterConfig), "arrays of it");

SAME(ApiCall, function, CUpti_ActivityAPI, cbid);
SAME(ApiCall, start, CUpti_ActivityAPI, start);
SAME(ApiCall, thread, CUpti_ActivityAPI, threadId);
SAME(ApiCall, correlation, CUpti_ActivityAPI, correlationId);

SAME(ExternalCorrelation, external, CUpti_ActivityExternalCorrelation, externalId);
SAME(ExternalCorrelation, correlation, CUpti_ActivityExternalCorrelation, correlationId);

TEST(CuptiAbi, MemoryRecordsNameTheirSourceWhereTheSwitchExists) {
  // The switch came with the field: 12.0 has neither, 12.9 and 13.5 have both.
#if CUPTI_API_VERSION >= 28
  EXPECT_EQ(offsetof(Memory, source), offsetof(MEMORY, source));
  EXPECT_EQ(sizeof(Memory), sizeof(MEMORY));
#else
  EXPECT_EQ(sizeof(MEMORY), offsetof(Memory, source));
#endif
}

TEST(CuptiAbi, NumbersAreCuptis) {
  EXPECT_EQ(static_cast<int>(kMemory2), CUPTI_ACTIVITY_KIND_MEMORY2);
  EXPECT_EQ(static_cast<int>(kMemoryPool), CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  EXPECT_EQ(static_cast<int>(kConcurrentKernel), CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(static_cast<int>(kKernel), CUPTI_ACTIVITY_KIND_KERNEL);
  EXPECT_EQ(static_cast<int>(kMemcpy), CUPTI_ACTIVITY_KIND_MEMCPY);
  EXPECT_EQ(static_cast<int>(kMemcpyPeer), CUPTI_ACTIVITY_KIND_MEMCPY2);
  EXPECT_EQ(static_cast<int>(kMemset), CUPTI_ACTIVITY_KIND_MEMSET);
  EXPECT_EQ(static_cast<int>(kDriver), CUPTI_ACTIVITY_KIND_DRIVER);
  EXPECT_EQ(static_cast<int>(kRuntime), CUPTI_ACTIVITY_KIND_RUNTIME);
  EXPECT_EQ(static_cast<int>(kMarker), CUPTI_ACTIVITY_KIND_MARKER);
  EXPECT_EQ(static_cast<int>(kUnifiedMemoryCounter), CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  EXPECT_EQ(static_cast<int>(kSynchronization), CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  EXPECT_EQ(static_cast<int>(kExternalCorrelation), CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  EXPECT_EQ(static_cast<int>(kGraphTrace), CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  EXPECT_EQ(static_cast<uint32_t>(kFlushForced), static_cast<uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  EXPECT_EQ(kNoStream, static_cast<uint32_t>(CUPTI_SYNCHRONIZATION_INVALID_VALUE));
  EXPECT_EQ(kUnifiedMemoryCounters + 1, static_cast<uint32_t>(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT));
  EXPECT_EQ(kUnifiedMemoryOfProcess,
            static_cast<uint32_t>(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE));
  EXPECT_EQ(static_cast<int>(kNotInitialized), CUPTI_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(static_cast<int>(kInvalidKind), CUPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(static_cast<int>(kNotSupported), CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(static_cast<int>(kInsufficientPrivileges), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(static_cast<int>(kVirtualizedInsufficientPrivileges),
            CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
}

}  // namespace
}  // namespace vramtrack::cupti
