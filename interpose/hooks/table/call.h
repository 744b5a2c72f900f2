// SPDX-License-Identifier: Apache-2.0
//
// One hooked call: records the events before and after the real call.
#ifndef INTERPOSE_HOOKS_TABLE_CALL_H_
#define INTERPOSE_HOOKS_TABLE_CALL_H_

#include <errno.h>

#include <atomic>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/hooks/table/cuda_abi.h"
#include "interpose/hooks/table/current_device.h"
#include "interpose/session/session.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Groups calls into families: if a call is made inside another one of its family, only the outer one is an event. For
// example, cudaMalloc calls cuMemAlloc. A context that cudaMalloc creates, or a workspace that cublasCreate allocates,
// belongs to another family and is an event of its own. Virtual memory is a separate family, too. The cudaMalloc of
// CUDA uses none, but that of another preloaded library may, in order to unmap memory and map it again later; its
// virtual memory calls are then the events, and its cudaMalloc is not.
enum Family : uint32_t {
  kNoFamily = 0,
  kMemory = 1u << 0,
  kQueries = 1u << 1,
  kTrimming = 1u << 2,
  kLimits = 1u << 3,
  kGraph = 1u << 29,   // nodes of the graph of a framework
  kBlocks = 1u << 30,  // blocks of a framework: the calls of the driver that allocate their memory are other events
  kVirtualMemory = 1u << 31,
  kEverything = ~0u,
};

// Returns the family of a kind: virtual memory is one family, all other memory is one, and each kind of handle is one.
constexpr uint32_t FamilyOf(uint32_t kind) {
  constexpr uint32_t kFirstHandleBit = 4;
  static_assert(schema::TEXTURE - schema::STREAM + kFirstHandleBit < 29, "a bit for every kind of handle");
  switch (kind) {
    case schema::PHYSICAL:
    case schema::GRAPH_POOL_PHYSICAL:
    case schema::HOST_PHYSICAL:
    case schema::IMPORTED:
    case schema::MULTICAST:
    case schema::ADDRESS_RANGE:
    case schema::MAPPING:
      return kVirtualMemory;
    default:
      break;
  }
  return kind < schema::STREAM ? kMemory : 1u << (kind - schema::STREAM + kFirstHandleBit);
}

// Constructed on entry to a hook and destroyed on return. Of nested calls of one family only the outermost is recorded.
// Calls that a signal handler makes while code of this library runs are passed through and counted. After the hook,
// errno is that of the real call.
class Call {
 public:
  explicit Call(uint32_t family) : Call(family, Session::Now()) {}
  // The same with what Session::Now() has just returned.
  Call(uint32_t family, Session* now)
      : thread_(thread_state), session_(now), saved_errno_(*Error()), covered_(thread_.covered) {
    if (__builtin_expect(thread_.busy || (covered_ & family) != 0, 0) && !Stale(family)) return;
    thread_.busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entered_ = true;
    family_ = family;
    outer_ = thread_.innermost;
    thread_.innermost = this;
    if (__builtin_expect(session_ == nullptr, 0) && !Begin()) return;
    writer_ = thread_.writer;
    if (__builtin_expect(thread_.session != session_ || writer_ == nullptr, 0)) Attach();
  }
  ~Call() {
    if (__builtin_expect(entered_, 1)) {
      thread_.innermost = outer_;
      thread_.covered = covered_;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      thread_.busy = false;
    }
    *thread_.error = saved_errno_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Returns false if the call must be passed through without recording anything.
  bool active() const { return writer_ != nullptr; }
  EventWriter* writer() const { return writer_; }
  Session* session() const { return session_; }

  // BeforeReal and AfterReal enclose the real call, so that it finds and leaves errno as it would without the hook.
  void BeforeReal() {
    if (__builtin_expect(entered_, 1)) {
      thread_.covered = covered_ | family_;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      thread_.busy = false;
    }
    *thread_.error = saved_errno_;
  }
  void AfterReal() {
    if (__builtin_expect(entered_, 1)) {
      thread_.busy = true;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    saved_errno_ = *thread_.error;
  }

  // Returns whether an allocation of this kind begins at the address, as far as calls were seen.
  bool IsAllocated(schema::Kind kind, uint64_t address) const;

  // Returns 1 + (thread << 40 | ordinal) of the allocation of any kind of memory that begins at the address, as
  // schema::MARK_MEMORY_NAME has it; 0 if none is known.
  uint64_t NumberOf(uint64_t address) const;

  // Captures the call stack. Call it before the real allocating call.
  void CaptureStack();
  // Call one of these after the real call. Allocated records an allocation of `bytes`, the size that CUDA actually
  // returned; Failed records a failure, with the requested `bytes`. `on` is a device, kCurrentDevice or kHostMemory.
  // `handle` is what Freeing will get in place of the address; 0: the address.
  void Allocated(schema::Kind kind, uint64_t address, uint64_t bytes, uint64_t stream, int on = kCurrentDevice,
                 uint64_t handle = 0);
  void Failed(schema::Kind kind, cuda::Error error, uint64_t bytes, int on = kCurrentDevice);

  // The same for a block of a framework's allocator, the most frequent of all: with the stack, and with the kind known
  // when it is compiled. `device` is a device, not kCurrentDevice. Call BlockFreed before anyone else can get the
  // address.
  void BlockAllocated(uint64_t address, uint64_t bytes, int device);
  void BlockFreed(uint64_t address, int device);

  // Records a free. Call it before the real call: after it, the address may already belong to an allocation of another
  // thread.
  void Freeing(schema::Kind kind, uint64_t address, uint64_t stream, int on = kCurrentDevice);
  // Call it after a real freeing call that failed: it revokes what Freeing or Releasing recorded.
  void FreeFailed(cuda::Error error);
  // Call it after a real freeing call that succeeded.
  void Freed(schema::Kind kind) {
    if (kind == schema::CONTEXT) ContextFreed();
    if (kind == schema::PHYSICAL) MemoryFreed();
  }

  // For objects that CUDA returns more than once and that end with their last release. Retained is called after the
  // real call, Releasing before it.
  void Retained(schema::Kind kind, uint64_t address);
  void Releasing(schema::Kind kind, uint64_t address);

  // For cuMemMap and cuMemUnmap, after they succeeded. cuMemUnmap may remove several neighbouring mappings.
  void Mapped(uint64_t address, uint64_t bytes, uint64_t handle);
  void Unmapped(uint64_t address, uint64_t bytes);

  // For multicast objects. What is bound to one is recorded as a mapping at an address of its own, from 2^55 on: it
  // keeps its memory until it is unbound, or the object is released and no longer mapped. Call Bound and Unbound after
  // the calls succeeded. `device`: kCurrentDevice where the call does not say it. NewMulticast and NewMemory note a new
  // handle and return it.
  uint64_t NewMulticast(uint64_t handle);
  uint64_t NewMemory(uint64_t handle, const cuda::AllocationProp* properties);
  void Bound(uint64_t multicast, uint64_t offset, uint64_t handle, uint64_t bytes, int device);
  void BoundAddress(uint64_t multicast, uint64_t offset, uint64_t address, uint64_t bytes, int device);
  void Unbound(uint64_t multicast, uint64_t offset, int device);

  // A node of any type was added to a graph; only memory nodes are recorded. `parameters` points to CUgraphNodeParams.
  void NodeAdded(const void* parameters);

  // Notes a new context, which becomes current. Returns `context`.
  uint64_t NewContext(uint64_t context, int device);

  // For the primary context of a device, whose owners may be any threads at any time.
  void PrimaryRetained(uint64_t context, int device);
  void PrimaryReleased(int device);

  void DeviceReset(int device = kCurrentDevice);
  void Trimmed(schema::Kind kind, uint64_t pool, uint64_t bytes, int device = kCurrentDevice);
  void Limit(int which, uint64_t value) { SettingChanged(schema::CONTEXT, static_cast<uint64_t>(which), value); }
  void PoolAttribute(uint64_t pool, int attribute, const void* value);
  void MemoryInfo(const size_t* free, const size_t* total);
  void FrameworkMemory(uint64_t given_out, uint64_t reserved, int device);
  void Properties(const cuda::DeviceProp* properties, int device);
  void Version(const char* of, const int* number);
  void Step(uint64_t number, double value);
  // Records a mark with its call stack.
  void Mark(schema::MarkKind kind, uint32_t name, uint64_t number);
  bool FirstReportOf(uint32_t device, DeviceFact fact) { return session_->FirstReportOf(device, fact); }
  // Defines a device in the trace. `name` is "" if unknown, `total_bytes` 0 if unknown.
  void DefineDevice(uint32_t device, const char* name, uint64_t total_bytes, const char* uuid = nullptr);

 private:
  __attribute__((cold)) bool Stale(uint32_t family);
  __attribute__((cold)) bool Begin();
  int* Error() {
    if (__builtin_expect(thread_.error == nullptr, 0)) thread_.error = &errno;
    return thread_.error;
  }
  void MarkRelease();
  // What is cold is in functions of its own: the cost of a hook is most of all the cache lines of its code.
  void RecordAllocation(schema::Kind kind, uint64_t address, uint64_t bytes, uint64_t stream, int on, uint64_t key,
                        ConcurrentTable::Bucket* home);
  uint64_t RecordFree(schema::Kind kind, uint64_t address, uint64_t key, uint64_t stream, int on);
  __attribute__((cold)) void NoteReplaced(schema::Kind kind, uint64_t before, int on);
  __attribute__((cold)) void NoteUnknownFree(schema::Kind kind, uint64_t address, int on);
  __attribute__((cold, noinline)) void CaptureUnusual(uint64_t frame, uint32_t* native, uint32_t* frames);
  __attribute__((cold)) void Attach();
  void DefineKnown();
  void ContextFreed();
  void MemoryFreed();
  void KeepOwner(uint64_t key);
  bool IsOfVirtualMemory(schema::Kind kind, uint64_t address) const;
  void SettingChanged(schema::Kind of, uint64_t which, uint64_t value);
  uint32_t Device(int on) const { return on < 0 ? thread_.device : static_cast<uint32_t>(on); }
  void Check(bool recorded) {
    if (__builtin_expect(!recorded, 0)) session_->ReportIfStopped();
  }

  ThreadState& thread_;
  Session* session_;
  EventWriter* writer_ = nullptr;
  const void* outer_ = nullptr;
  bool entered_ = false, released_ = false;
  int saved_errno_;
  uint32_t covered_;  // families of the enclosing calls
  uint32_t family_ = 0;
  uint32_t stack_ = 0;
  uint64_t freed_key_ = 0, freed_identity_ = 0, freed_address_ = 0;
};

// Records a mark with its call stack. Before recording has begun, the mark is kept until it begins; a mark does not
// begin it. `domain` and `message` may be null. `id`: of a range that starts or ends, otherwise 0. To be called outside
// of a Call. Thread-safe.
void RecordMark(schema::MarkKind kind, const char* domain, const char* message, uint64_t id = 0);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_CALL_H_
