// SPDX-License-Identifier: Apache-2.0
//
// Sees the blocks of PyTorch's pool of pinned memory, which reports them to nobody. The pool is a c10::Allocator that
// libtorch_cuda registers. From then on it has a copy of its table of virtual functions in which two are replaced.
// Nothing is touched where the table is not as expected, and nothing recorded where a block is not.
// Sources: c10/core/Allocator.h, ATen/core/CachingHostAllocator.h, ATen/Context.h (PyTorch 2.8 and later).
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/base/spin_lock.h"
#include "interpose/base/system_call.h"
#include "interpose/holders/cpp_objects.h"
#include "interpose/hooks/table/call.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/loader/loaded_object.h"

namespace vramtrack {
namespace {

using Deleter = void (*)(void* context);

// c10::DataPtr, with a std::unique_ptr of libstdc++. Like the original it is not trivial, so that a function returns it
// in memory of its caller.
struct DataPtr {
  void* data;
  Deleter deleter;
  void* context;
  int8_t device_type, device_index;

  DataPtr(DataPtr&&);  // never called: results are constructed in place
  ~DataPtr() {}        // the caller owns the block
};

// Places in the table of virtual functions, behind the two destructors.
constexpr size_t kAllocate = 2, kIsSimpleDataPtr = 3, kRawDeleter = 4;
constexpr size_t kBeforeTable = 2;  // the offset to the top and the type
constexpr size_t kMostWords = 64;   // more than any release has

using Allocate = DataPtr (*)(void* self, size_t bytes);
using RawDeleter = Deleter (*)(const void* self);

struct Pool {
  const void* self;
  Allocate allocate;
  RawDeleter raw_deleter;
  std::atomic<Deleter> deleter;  // of its blocks, known from the first one
  std::atomic<bool> strange;     // its blocks are not as expected
};

// A deleter knows nothing of its pool, so each pool has functions of its own.
constexpr size_t kMostPools = 2;
Pool pools[kMostPools];
size_t pool_count;
SpinLock registering;

template <typename Function>
void* Address(Function function) {
  return reinterpret_cast<void*>(function);
}

bool IsInCodeOf(const void* known, const void* address) {
  LoadedObject library;
  uint64_t begin, bytes;
  return FindLoadedObject(known, &library) && library.SegmentOf(known, &begin, &bytes) &&
         reinterpret_cast<uint64_t>(address) - begin < bytes;
}

template <size_t kPool>
void DeleteBlock(void* context) {
  if (!Session::PassesOn()) {
    Call call(kBlocks);
    const auto handle = reinterpret_cast<uint64_t>(context);
    if (call.active() && call.IsAllocated(schema::PINNED_BLOCK, handle)) call.Freeing(schema::PINNED_BLOCK, handle, 0);
  }
  pools[kPool].deleter.load(std::memory_order_relaxed)(context);
}

bool IsAsExpected(Pool* pool, const DataPtr& block, Deleter ours) {
  Deleter deleter = pool->deleter.load(std::memory_order_relaxed);
  if (deleter == nullptr) {
    // Null where the pool does not serve those who keep the context alone, as in 2.15.
    const Deleter raw = pool->raw_deleter(pool->self);
    deleter = block.deleter;
    if (!IsInCodeOf(Address(pool->allocate), Address(deleter)) || (raw != nullptr && raw != deleter)) return false;
    pool->deleter.store(deleter, std::memory_order_relaxed);
    holders::AddRecordedDeleter(Address(ours));
  }
  return block.deleter == deleter && block.context != nullptr && block.device_type == holders::kCpuDevice;
}

template <size_t kPool>
DataPtr AllocateBlock(void* self, size_t bytes) {
  DataPtr block = pools[kPool].allocate(self, bytes);  // may throw
  Pool* const pool = &pools[kPool];
  if (block.data == nullptr || self != pool->self || pool->strange.load(std::memory_order_relaxed)) return block;
  if (!IsAsExpected(pool, block, DeleteBlock<kPool>)) {
    pool->strange.store(true, std::memory_order_relaxed);
    return block;
  }
  block.deleter = DeleteBlock<kPool>;
  if (Session::PassesOn()) return block;
  Call call(kBlocks);
  if (!call.active()) return block;
  call.CaptureStack();
  call.Allocated(schema::PINNED_BLOCK, reinterpret_cast<uint64_t>(block.data), bytes, 0, kCurrentDevice,
                 reinterpret_cast<uint64_t>(block.context));
  return block;
}

// Callers compare it with the deleter of a block.
template <size_t kPool>
Deleter RawDeleterOf(const void* self) {
  Pool* const pool = &pools[kPool];
  const Deleter deleter = pool->raw_deleter(self);
  const bool replaced = deleter != nullptr && deleter == pool->deleter.load(std::memory_order_relaxed) &&
                        !pool->strange.load(std::memory_order_relaxed);
  return replaced ? DeleteBlock<kPool> : deleter;
}

// Returns a copy of the table with the functions of pool `index`; null if it is not as expected.
void** MakeTable(void** table, size_t index) {
  constexpr char kName[] = "_ZNK3c109Allocator18is_simple_data_ptrERKNS_7DataPtrE";
  LoadedObject library;
  uint64_t begin, bytes;
  if (!FindLoadedObject(table, &library) || !library.SegmentOf(table, &begin, &bytes)) return nullptr;
  const auto at = reinterpret_cast<uint64_t>(table);
  if (at < begin + sizeof(void*) * kBeforeTable) return nullptr;
  LoadedObject c10;
  if (!FindLoadedObject(table[kIsSimpleDataPtr], &c10) || c10.Find(kName) != table[kIsSimpleDataPtr]) return nullptr;
  const size_t rest = (begin + bytes - at) / sizeof(void*) + kBeforeTable;
  const size_t words = rest < kMostWords ? rest : kMostWords;
  auto** copy = static_cast<void**>(MapPrivate(kMostWords * sizeof(void*)));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, table - kBeforeTable, words * sizeof(void*));
  copy += kBeforeTable;
  pools[index].allocate = reinterpret_cast<Allocate>(table[kAllocate]);
  pools[index].raw_deleter = reinterpret_cast<RawDeleter>(table[kRawDeleter]);
  copy[kAllocate] = index == 0 ? Address(AllocateBlock<0>) : Address(AllocateBlock<1>);
  copy[kRawDeleter] = index == 0 ? Address(RawDeleterOf<0>) : Address(RawDeleterOf<1>);
  return copy;
}

void Watch(void* allocator) {
  if (!registering.Lock()) return;
  bool is_known = false;
  for (const Pool& pool : pools) is_known |= pool.self == allocator;
  if (!is_known && pool_count < kMostPools) {
    auto*** const object = static_cast<void***>(allocator);
    if (void** const table = MakeTable(*object, pool_count)) {
      pools[pool_count++].self = allocator;
      __atomic_store_n(object, table, __ATOMIC_RELEASE);
    }
  }
  registering.Unlock();
}

}  // namespace
}  // namespace vramtrack

#define VRAMTRACK_REGISTERS_ALLOCATOR(entry, parameters, arguments)                                          \
  VRAMTRACK_EXPORT void entry parameters {                                                                   \
    if (device_type == vramtrack::holders::kCudaDevice && allocator != nullptr) vramtrack::Watch(allocator); \
    VRAMTRACK_PASS_ON(entry, parameters, arguments)                                                          \
  }
#define VRAMTRACK_REPORTS_BLOCK(...)          // see allocator_hooks.cc
#define VRAMTRACK_REPORTS_OUT_OF_MEMORY(...)  // see allocator_hooks.cc
#define VRAMTRACK_BEGINS_RECORD(...)          // see graph_hooks.cc
#define VRAMTRACK_FOLLOWS_GRAPH(...)          // see graph_hooks.cc
#include "interpose/hooks/table/torch_api.inc"
