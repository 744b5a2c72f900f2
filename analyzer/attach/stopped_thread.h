// SPDX-License-Identifier: Apache-2.0
//
// One thread of another process, stopped by ptrace. The other threads go on.
#ifndef ANALYZER_ATTACH_STOPPED_THREAD_H_
#define ANALYZER_ATTACH_STOPPED_THREAD_H_

#if defined(__x86_64__)

#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vramtrack {

// Thread-compatible: use it in the thread that stopped it.
class StoppedThread {
 public:
  // Stops the thread. An error of kPermissionDenied means that ptrace is not allowed, of kDeadlineExceeded that the
  // thread did not stop in time (it is in an uninterruptible wait), and of kUnavailable that it has ended.
  static absl::StatusOr<std::unique_ptr<StoppedThread>> Stop(pid_t thread);

  // Lets the thread go on where it was. A system call that the stop has interrupted is restarted, also one that the
  // kernel itself would end with EINTR.
  ~StoppedThread();
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;

  // Lets threads go that did not stop in time and have stopped since. Call it every few milliseconds.
  static void ReleaseLate();
  // Returns whether the thread did not stop in time and has not been let go yet.
  static bool IsLate(pid_t thread);
  static bool AnyLate();

  pid_t id() const { return thread_; }
  // The registers with which it was stopped.
  const user_regs_struct& registers() const { return registers_; }
  // Returns whether it was in a system call, whose number is registers().orig_rax.
  bool in_system_call() const { return static_cast<int64_t>(registers_.orig_rax) >= 0; }

  // Writes code to `spare`, kWayBackBytes of zeros in executable memory of the process that are used for nothing else.
  // From then on, until the destructor lets the thread go, no signal is delivered to it, and wherever it is, it finds
  // its way back by itself if this process dies. Call it before what follows.
  static constexpr size_t kWayBackBytes = 256;
  absl::Status Prepare(uint64_t spare);
  // Returns the address of code that gives the thread its registers, except those for vectors, and its signal mask, and
  // has it go on where it was.
  uint64_t way_back() const;

  // Makes the thread execute one system call. Returns its result, or -errno.
  absl::StatusOr<int64_t> Call(long number, const std::vector<uint64_t>& arguments);

  // Makes the thread run code at `start` with its stack at `stack` and `argument` in rbx, until `done` returns true,
  // and stops it again. The code may go to way_back(), if it is not stopped soon; `left` is to return true before.
  absl::Status Run(uint64_t start, uint64_t stack, uint64_t argument, const std::function<bool()>& done,
                   const std::function<bool()>& left);

  // Writes memory of the process, by words.
  bool Write(uint64_t address, const std::vector<uint8_t>& bytes);

  // Returns how long the thread has been stopped, in seconds.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - stopped_at_).count();
  }

 private:
  explicit StoppedThread(pid_t thread) : thread_(thread) {}
  absl::Status Wait(int* status, std::chrono::milliseconds limit);
  absl::Status WaitForTrap(std::chrono::milliseconds limit);
  absl::Status BackToTrap();
  absl::Status WaitForSystemCall();
  bool ReadRegisters(user_regs_struct* registers);
  bool SetRegisters(const user_regs_struct& registers);
  std::vector<uint8_t> WayBack() const;
  user_regs_struct Resumed() const;
  bool IsSignalPending() const;

  const pid_t thread_;
  user_regs_struct registers_ = {};
  std::vector<uint8_t> vector_registers_;
  uint64_t signal_mask_ = 0, spare_ = 0;
  bool traced_ = false;   // PTRACE_SEIZE has succeeded and the thread has not ended
  bool in_stop_ = false;  // it does not run now
  bool stopped_ = false;  // registers_ are known
  bool changed_ = false;  // its registers are others now
  bool at_trap_ = false;  // it is in a stop after which the kernel restarts the system call of registers_
  std::chrono::steady_clock::time_point stopped_at_;
};

}  // namespace vramtrack

#endif  // defined(__x86_64__)

#endif  // ANALYZER_ATTACH_STOPPED_THREAD_H_
