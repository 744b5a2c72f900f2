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
  EXPECT_EQ(static_cast<uint32_t>(kFlushForced), static_cast<uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  EXPECT_EQ(static_cast<int>(kNotInitialized), CUPTI_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(static_cast<int>(kInvalidKind), CUPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(static_cast<int>(kNotSupported), CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(static_cast<int>(kInsufficientPrivileges), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(static_cast<int>(kVirtualizedInsufficientPrivileges),
            CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
}

}  // namespace
}  // namespace vramtrack::cupti
