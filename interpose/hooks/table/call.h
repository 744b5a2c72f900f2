// SPDX-License-Identifier: Apache-2.0
//
// One hooked call: what is recorded before and after the real one.
#ifndef INTERPOSE_HOOKS_TABLE_CALL_H_
#define INTERPOSE_HOOKS_TABLE_CALL_H_

#include <errno.h>

#include <atomic>
#include <cstdint>

#include "interpose/hooks/table/cuda_abi.h"
#include "interpose/hooks/table/current_device.h"
#include "interpose/hooks/table/family.h"
#include "interpose/session/session.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Made on entry, destroyed on return. Of calls of one family within each other only the outermost is recorded. What a
// signal handler calls while this library's own code runs is passed through and counted. errno is the real call's.
class Call {
 public:
  explicit Call(uint32_t family) : thread_(thread_state), saved_errno_(errno), covered_(thread_.covered) {
    if (__builtin_expect(thread_.busy || (covered_ & family) != 0, 0) && !Stale(family)) return;
    thread_.busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entered_ = true;
    family_ = family;
    outer_ = thread_.innermost;
    thread_.innermost = this;
    session_ = Session::Running();
    if (__builtin_expect(session_ == nullptr, 0) && !Begin()) return;
    lane_ = thread_.lane;
    if (__builtin_expect(thread_.session != session_ || lane_ == nullptr, 0)) Attach();
  }
  ~Call() {
    if (entered_) {
      thread_.innermost = outer_;
      thread_.covered = covered_;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      thread_.busy = false;
    }
    errno = saved_errno_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // False: pass the call through and record nothing.
  bool active() const { return lane_ != nullptr; }
  Lane* lane() const { return lane_; }
  Session* session() const { return session_; }

  // Around the real call, so that it finds and leaves errno as it would without us.
  void BeforeReal() {
    if (entered_) {
      thread_.covered = covered_ | family_;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      thread_.busy = false;
    }
    errno = saved_errno_;
  }
  void AfterReal() {
    if (entered_) {
      thread_.busy = true;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    saved_errno_ = errno;
  }

  // Where the address is known so early: it will be Allocated or Freeing's.
  void Expect(schema::Kind kind, uint64_t address) const;

  // Before an allocating call: takes the stack.
  void CaptureStack();
  // After it. `on`: a device, kCurrentDevice or kHostMemory.
  void Allocated(schema::Kind kind, uint64_t address, uint64_t bytes, uint64_t stream, int on = kCurrentDevice);
  void Failed(schema::Kind kind, cuda::Error error, uint64_t bytes, int on = kCurrentDevice);

  // Before a freeing call: afterwards the address may be another thread's already.
  void Freeing(schema::Kind kind, uint64_t address, uint64_t stream, int on = kCurrentDevice);
  // After one that failed: what Freeing or Releasing recorded did not happen.
  void FreeFailed(cuda::Error error);
  // After one that succeeded.
  void Freed(schema::Kind kind) {
    if (kind == schema::CONTEXT) ContextFreed();
  }

  // For what may be given out more than once and ends with the last release.
  void Retained(schema::Kind kind, uint64_t address);
  void Releasing(schema::Kind kind, uint64_t address);

  // cuMemMap and cuMemUnmap, which takes away any number of neighbouring mappings. After they succeeded.
  void Mapped(uint64_t address, uint64_t bytes, uint64_t handle);
  void Unmapped(uint64_t address, uint64_t bytes);

  // A node of any type was added to a graph. `parameters`: CUgraphNodeParams.
  void NodeAdded(const void* parameters);

  // Returns the context.
  uint64_t NewContext(uint64_t context, int device);

  // The primary context of a device, whose owners may be any threads at any time.
  void PrimaryRetained(uint64_t context, int device);
  void PrimaryReleased(int device);

  void DeviceReset(int device = kCurrentDevice);
  void Trimmed(schema::Kind kind, uint64_t pool, uint64_t bytes, int device = kCurrentDevice);
  void Limit(int which, uint64_t value) { SettingChanged(schema::CONTEXT, which, value); }
  void PoolAttribute(int attribute, const void* value);
  void MemoryInfo(const size_t* free, const size_t* total);
  void FrameworkMemory(uint64_t given_out, uint64_t reserved, int device);
  void Properties(const cuda::DeviceProp* properties, int device);
  void Version(const char* of, const int* number);
  void Step(uint64_t number, double value);
  // Takes the stack.
  void Mark(schema::MarkKind kind, uint32_t name, uint64_t number);
  bool FirstReportOf(uint32_t device, bool with_total) { return session_->FirstReportOf(device, with_total); }
  // "" for a name that is not known, 0 for a total.
  void DefineDevice(uint32_t device, const char* name, uint64_t total_bytes);

 private:
  bool Stale(uint32_t family);
  bool Begin();
  void MarkRelease();
  void Attach();
  void DefineKnown();
  uint32_t CaptureNative(const CodeRange& last, bool* through_signal);
  void ContextFreed();
  bool IsOfVirtualMemory(schema::Kind kind, uint64_t address) const;
  void SettingChanged(schema::Kind of, int which, uint64_t value);
  uint32_t Device(int on) const { return on < 0 ? thread_.device : static_cast<uint32_t>(on); }
  void Check(bool recorded) {
    if (__builtin_expect(!recorded, 0)) session_->ReportIfStopped();
  }

  ThreadState& thread_;
  Session* session_ = nullptr;
  Lane* lane_ = nullptr;
  const void* outer_ = nullptr;
  bool entered_ = false, released_ = false;
  int saved_errno_;
  uint32_t covered_;  // families of the calls that this one is made in
  uint32_t family_ = 0;
  uint32_t stack_ = 0;
  uint64_t freed_key_ = 0, freed_identity_ = 0, freed_address_ = 0;
};

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_CALL_H_
