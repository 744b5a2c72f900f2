// SPDX-License-Identifier: Apache-2.0
//
// One hooked call: what is recorded before and after the real one.
#ifndef INTERPOSE_HOOKS_CALL_H_
#define INTERPOSE_HOOKS_CALL_H_

#include <errno.h>

#include <cstdint>

#include "interpose/hooks/cuda_abi.h"
#include "interpose/session/session.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Made on entry, destroyed on return. Only the outermost call of a thread is recorded: what CUDA calls inside, or a
// signal handler that interrupted us, finds `active()` false. errno is the real call's.
class Call {
 public:
  Call() : thread_(thread_state), saved_errno_(errno) {
    if (__builtin_expect(thread_.inside, 0)) {
      Nested();
      return;
    }
    thread_.inside = true;
    active_ = true;
    session_ = Session::Get();
    if (session_ == nullptr) return;
    lane_ = __builtin_expect(thread_.session == session_ && thread_.lane != nullptr, 1) ? thread_.lane
                                                                                        : session_->AttachThread();
    if (lane_ == nullptr) Lost();
  }
  ~Call() {
    if (active_) thread_.inside = false;
    errno = saved_errno_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // False: pass the call through and record nothing.
  bool active() const { return lane_ != nullptr; }

  // Around the real call, so that it finds and leaves errno as it would without us.
  void BeforeReal() { errno = saved_errno_; }
  void AfterReal() { saved_errno_ = errno; }

  // Before an allocating call: takes the stack.
  void CaptureStack();
  // After it.
  void Allocated(schema::Kind kind, uint64_t address, uint64_t bytes, uint64_t stream);
  void Failed(schema::Kind kind, cuda::Error error, uint64_t bytes);

  // Before a freeing call: afterwards the address may be another thread's already.
  void Freeing(schema::Kind kind, uint64_t address, uint64_t stream);
  // After one that failed: what Freeing recorded did not happen.
  void FreeFailed(cuda::Error error);

  void CurrentDevice(int device) { thread_.device = device < 0 ? 0 : static_cast<uint32_t>(device); }
  void DeviceReset();
  void MemoryInfo(const size_t* free, const size_t* total);
  void Properties(const cuda::DeviceProp* properties, int device);
  void Version(const char* of, const int* number);
  void Step(uint64_t number, double value);

 private:
  void Nested();
  void Lost();
  void DefineDevice(uint32_t device, const char* name, uint64_t total_bytes);
  void Check(bool recorded) {
    if (__builtin_expect(!recorded, 0)) session_->ReportIfStopped();
  }

  ThreadState& thread_;
  Session* session_ = nullptr;
  Lane* lane_ = nullptr;
  bool active_ = false;
  int saved_errno_;
  uint32_t stack_ = 0;
  uint64_t freed_key_ = 0, freed_identity_ = 0;
};

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_CALL_H_
