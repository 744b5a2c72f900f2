// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attach/stopped_thread.h"

#if defined(__x86_64__)

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

// By number: the headers of old C libraries lack some, and define others as macros or enumerators.
constexpr auto kSeize = static_cast<__ptrace_request>(0x4206);
constexpr auto kInterrupt = static_cast<__ptrace_request>(0x4207);
constexpr auto kGetSignalMask = static_cast<__ptrace_request>(0x420a);
constexpr auto kSetSignalMask = static_cast<__ptrace_request>(0x420b);
constexpr int kEventStop = 128;            // PTRACE_EVENT_STOP
constexpr uintptr_t kGoodSystemCalls = 1;  // PTRACE_O_TRACESYSGOOD: system calls stop with bit 7 of the signal
constexpr int kRegistersOfXsave = 0x202;   // NT_X86_XSTATE
// A thread that has begun to run the code must come to its end, however long other threads keep what it waits for.
constexpr std::chrono::milliseconds kStopLimit(100), kCallLimit(60000);

// Raised by an instruction of the thread: the kernel resets their actions if they come while they are blocked.
constexpr uint64_t kSynchronous = uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGBUS - 1) |
                                  uint64_t{1} << (SIGILL - 1) | uint64_t{1} << (SIGFPE - 1) |
                                  uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGSYS - 1);

constexpr char kForbidden[] = "made a forbidden system call";

absl::Status Unavailable(pid_t thread, const std::string& what) {
  return absl::UnavailableError(absl::StrCat("thread ", thread, ": ", what));
}

}  // namespace

absl::Status StoppedThread::Wait(int* status, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (int tries = 0;; ++tries) {
    const pid_t found = waitpid(thread_, status, __WALL | WNOHANG);
    if (found == thread_) {
      if (!WIFSTOPPED(*status)) {
        traced_ = false;
        return Unavailable(
            thread_, WIFSIGNALED(*status) ? absl::StrCat("was killed: ", strsignal(WTERMSIG(*status))) : "has ended");
      }
      in_stop_ = true;
      return absl::OkStatus();
    }
    if (found < 0 && errno != EINTR) {
      traced_ = false;
      return Unavailable(thread_, "has ended");
    }
    if (std::chrono::steady_clock::now() > end) {
      return absl::DeadlineExceededError(absl::StrCat("thread ", thread_, ": does not stop"));
    }
    ReleaseLate();
    if (tries > 20) std::this_thread::sleep_for(std::chrono::microseconds(tries > 200 ? 500 : 20));
  }
}

// Waits for the stop that PTRACE_INTERRUPT asks for. A signal that comes first is delivered first.
absl::Status StoppedThread::WaitForTrap(std::chrono::milliseconds limit) {
  while (true) {
    int status;
    if (absl::Status waited = Wait(&status, limit); !waited.ok()) return waited;
    if (status >> 16 == kEventStop) {
      at_trap_ = true;
      if (WSTOPSIG(status) == SIGTRAP) return absl::OkStatus();
      return Unavailable(thread_, "is stopped by a signal");
    }
    const bool is_signal = status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80);
    in_stop_ = false;
    ptrace(PTRACE_CONT, thread_, nullptr, is_signal ? WSTOPSIG(status) : 0);
  }
}

// From a stop at a system call to one after which the kernel restarts the call that was interrupted at first. The
// thread gets there without executing an instruction.
absl::Status StoppedThread::BackToTrap() {
  ptrace(kInterrupt, thread_, nullptr, nullptr);
  if (in_stop_) ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
  in_stop_ = false;
  return WaitForTrap(kCallLimit);
}

namespace {
std::vector<pid_t> late_threads;
}  // namespace

// It is let go as one that has stopped in time.
void StoppedThread::ReleaseLate() {
  for (size_t i = 0; i < late_threads.size();) {
    int status;
    const pid_t id = late_threads[i], found = waitpid(id, &status, __WALL | WNOHANG);
    if (found == 0) {
      ++i;
      continue;
    }
    late_threads.erase(late_threads.begin() + static_cast<std::ptrdiff_t>(i));
    if (found < 0 || !WIFSTOPPED(status)) continue;
    if (status >> 16 == 0) {
      ptrace(PTRACE_DETACH, id, nullptr, WSTOPSIG(status));
      continue;
    }
    StoppedThread late(id);
    late.traced_ = late.in_stop_ = late.at_trap_ = true;
    late.stopped_ = late.ReadRegisters(&late.registers_);
  }
}

bool StoppedThread::AnyLate() { return !late_threads.empty(); }

bool StoppedThread::IsLate(pid_t thread) {
  return std::find(late_threads.begin(), late_threads.end(), thread) != late_threads.end();
}

absl::StatusOr<std::unique_ptr<StoppedThread>> StoppedThread::Stop(pid_t thread) {
  std::unique_ptr<StoppedThread> stopped(new StoppedThread(thread));
  if (ptrace(kSeize, thread, nullptr, kGoodSystemCalls) != 0) {
    if (errno == EPERM || errno == EACCES) return absl::PermissionDeniedError(std::strerror(errno));
    return Unavailable(thread, "has ended");
  }
  stopped->traced_ = true;
  if (ptrace(kInterrupt, thread, nullptr, nullptr) != 0) return Unavailable(thread, "has ended");
  if (absl::Status waited = stopped->WaitForTrap(kStopLimit); !waited.ok()) return waited;
  stopped->stopped_at_ = std::chrono::steady_clock::now();
  if (!stopped->ReadRegisters(&stopped->registers_)) return Unavailable(thread, "has ended");
  stopped->stopped_ = true;
  return stopped;
}

bool StoppedThread::ReadRegisters(user_regs_struct* registers) {
  iovec part = {registers, sizeof *registers};
  return ptrace(PTRACE_GETREGSET, thread_, NT_PRSTATUS, &part) == 0;
}

bool StoppedThread::SetRegisters(const user_regs_struct& registers) {
  iovec part = {const_cast<user_regs_struct*>(&registers), sizeof registers};
  return ptrace(PTRACE_SETREGSET, thread_, NT_PRSTATUS, &part) == 0;
}

bool StoppedThread::IsSignalPending() const {
  std::ifstream file(absl::StrCat("/proc/", thread_, "/status"));
  uint64_t pending = 0, blocked = 0;
  for (std::string line; std::getline(file, line);) {
    const auto value = [&] { return std::stoull(line.substr(line.find(':') + 1), nullptr, 16); };
    if (absl::StartsWith(line, "SigPnd:") || absl::StartsWith(line, "ShdPnd:")) pending |= value();
    if (absl::StartsWith(line, "SigBlk:")) blocked = value();
  }
  return (pending & ~blocked) != 0;
}

StoppedThread::~StoppedThread() {
  if (!traced_) return;
  if (stopped_ && in_stop_ && !at_trap_) BackToTrap().IgnoreError();
  if (!traced_) return;
  if (!in_stop_) {
    late_threads.push_back(thread_);
    return;
  }
  if (stopped_) {
    // The kernel restarts most calls itself.
    const bool ended = in_system_call() && static_cast<int64_t>(registers_.rax) == -EINTR;
    if (changed_) {
      iovec part = {vector_registers_.data(), vector_registers_.size()};
      ptrace(PTRACE_SETREGSET, thread_, kRegistersOfXsave, &part);
      // Before the registers: if this process dies in between, the thread finds its way back.
      ptrace(kSetSignalMask, thread_, reinterpret_cast<void*>(sizeof signal_mask_), &signal_mask_);
    }
    if (ended || changed_) SetRegisters(ended ? Resumed() : registers_);
    if (changed_) Write(spare_, std::vector<uint8_t>(kWayBackBytes));
  }
  ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
}

// The registers with which the thread would go on by itself. A system call that the stop has interrupted is made again,
// as the kernel would do. Some waits, such as epoll_wait and a socket's with a timeout, end with EINTR at any stop; if
// a signal is pending, its handler may want the EINTR.
user_regs_struct StoppedThread::Resumed() const {
  constexpr int64_t kRestartSystem = -512, kRestartNoInterrupt = -513, kRestartNoHandler = -514, kRestartBlock = -516;
  user_regs_struct resumed = registers_;
  if (!in_system_call()) return resumed;
  const auto result = static_cast<int64_t>(resumed.rax);
  const bool again = result == kRestartSystem || result == kRestartNoInterrupt || result == kRestartNoHandler ||
                     (result == -EINTR && !IsSignalPending());
  if (!again && result != kRestartBlock) return resumed;
  resumed.rax = again ? resumed.orig_rax : SYS_restart_syscall;
  resumed.rip -= 2;  // the length of the instruction
  resumed.orig_rax = ~uint64_t{0};
  return resumed;
}

namespace {

// Code for this processor, followed by its constants.
class CodeWriter {
 public:
  void Bytes(std::initializer_list<int> bytes) {
    for (const int byte : bytes) code_.push_back(static_cast<uint8_t>(byte));
  }
  void Word(uint64_t value) {
    for (int i = 0; i < 64; i += 8) code_.push_back(static_cast<uint8_t>(value >> i));
  }
  // movabs $value, register `number`
  void Load(int number, uint64_t value) {
    Bytes({number < 8 ? 0x48 : 0x49, 0xb8 + number % 8});
    Word(value);
  }
  // The distance from the end of an instruction, whose last four bytes it is, to a constant.
  void To(size_t constant) {
    const auto distance = static_cast<uint32_t>(constant - (code_.size() + 4));
    for (int i = 0; i < 32; i += 8) code_.push_back(static_cast<uint8_t>(distance >> i));
  }
  std::vector<uint8_t> With(size_t constants, std::initializer_list<uint64_t> words) {
    code_.resize(constants);
    for (const uint64_t word : words) Word(word);
    return code_;
  }

 private:
  std::vector<uint8_t> code_;
};

constexpr size_t kCallBytes = 2;                                                      // of a syscall instruction
constexpr size_t kMaskAt = StoppedThread::kWayBackBytes - 16, kGoOnAt = kMaskAt + 8;  // constants
enum RegisterNumber { kRax, kRcx, kRdx, kRbx, kRsp, kRbp, kRsi, kRdi };

}  // namespace

// A system call, with whatever is in the registers, and the way back after it. Needs no memory but the thread's own
// stack, where a signal's handler may run once the mask is as it was.
std::vector<uint8_t> StoppedThread::WayBack() const {
  const user_regs_struct to = Resumed();
  const uint64_t flags = to.eflags;
  const bool overflow = (flags & 0x800) != 0, downwards = (flags & 0x400) != 0;
  CodeWriter code;
  code.Bytes({0x0f, 0x05});
  // rt_sigprocmask(SIG_SETMASK, &mask, null, 8)
  code.Load(kRsp, to.rsp);
  code.Load(kRax, SYS_rt_sigprocmask);
  code.Load(kRdi, SIG_SETMASK);
  code.Bytes({0x48, 0x8d, 0x35});  // lea mask(%rip), %rsi
  code.To(kMaskAt);
  code.Load(kRdx, 0);
  code.Load(10, 8);
  code.Bytes({0x0f, 0x05});
  code.Bytes({0xb0, overflow ? 0x7f : 0, 0x04, 1});          // mov and add to al: the overflow flag
  code.Bytes({0xb4, static_cast<int>(flags & 0xff), 0x9e});  // mov to ah, sahf: the other arithmetic ones
  code.Bytes({downwards ? 0xfd : 0xfc});                     // std, cld
  const unsigned long long values[] = {to.rax, to.rcx, to.rdx, to.rbx, to.rsp, to.rbp, to.rsi, to.rdi,
                                       to.r8,  to.r9,  to.r10, to.r11, to.r12, to.r13, to.r14, to.r15};
  for (int number = 0; number < 16; ++number) {
    if (number != kRsp) code.Load(number, values[number]);
  }
  code.Bytes({0xff, 0x25});  // jmp *go_on(%rip)
  code.To(kGoOnAt);
  return code.With(kMaskAt, {signal_mask_, to.rip});
}

uint64_t StoppedThread::way_back() const { return spare_ + kCallBytes; }

absl::Status StoppedThread::Prepare(uint64_t spare) {
  std::vector<uint8_t> saved(1 << 16);
  iovec part = {saved.data(), saved.size()};
  if (ptrace(PTRACE_GETREGSET, thread_, kRegistersOfXsave, &part) != 0 ||
      ptrace(kGetSignalMask, thread_, reinterpret_cast<void*>(sizeof signal_mask_), &signal_mask_) != 0) {
    return Unavailable(thread_, "its registers cannot be saved");
  }
  saved.resize(part.iov_len);
  if (!Write(spare, WayBack())) return absl::FailedPreconditionError("the system forbids to write to its code");
  spare_ = spare;
  vector_registers_ = std::move(saved);
  user_regs_struct now = registers_;
  now.orig_rax = ~0ull;
  now.rip = way_back();
  if (!SetRegisters(now)) return Unavailable(thread_, "has ended");
  changed_ = true;
  uint64_t all = ~kSynchronous;
  if (ptrace(kSetSignalMask, thread_, reinterpret_cast<void*>(sizeof all), &all) != 0) {
    return Unavailable(thread_, "has ended");
  }
  return absl::OkStatus();
}

namespace {

// Returns the signal of a stopped thread that must be delivered; 0: none. SIGSTOP cannot be held back. Delivered, it
// stops the process once its threads are let go.
uintptr_t SignalToDeliver(int status) { return status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP ? SIGSTOP : 0; }

}  // namespace

absl::Status StoppedThread::WaitForSystemCall() {
  uintptr_t signal = 0;
  while (true) {
    at_trap_ = in_stop_ = false;
    if (ptrace(PTRACE_SYSCALL, thread_, nullptr, reinterpret_cast<void*>(signal)) != 0) {
      traced_ = false;
      return Unavailable(thread_, "has ended");
    }
    int status;
    if (absl::Status waited = Wait(&status, kCallLimit); !waited.ok()) return waited;
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) return absl::OkStatus();
    // A stop of the whole process takes effect once the thread is let go.
    signal = SignalToDeliver(status);
    if (signal != 0 || status >> 16 == kEventStop) continue;
    return absl::InternalError(absl::StrCat("the injected code raised signal ", WSTOPSIG(status)));
  }
}

absl::StatusOr<int64_t> StoppedThread::Call(long number, const std::vector<uint64_t>& arguments) {
  user_regs_struct now = registers_;
  unsigned long long* const places[] = {&now.rdi, &now.rsi, &now.rdx, &now.r10, &now.r8, &now.r9};
  for (size_t i = 0; i < arguments.size() && i < 6; ++i) *places[i] = arguments[i];
  now.rax = static_cast<unsigned long long>(number);
  now.orig_rax = ~0ull;
  now.rip = spare_;
  if (!SetRegisters(now)) return Unavailable(thread_, "has ended");
  for (int stop = 0; stop < 2; ++stop) {  // at the entry and the exit of the call
    if (absl::Status waited = WaitForSystemCall(); !waited.ok()) return waited;
  }
  if (!ReadRegisters(&now)) return Unavailable(thread_, "has ended");
  const auto result = static_cast<int64_t>(now.rax);
  // As a policy leaves it that ends the process.
  if (result == number) return Unavailable(thread_, kForbidden);
  return result;
}

absl::Status StoppedThread::Run(uint64_t start, uint64_t stack, uint64_t argument, const std::function<bool()>& done,
                                const std::function<bool()>& left) {
  user_regs_struct now = registers_;
  now.rip = start;
  now.rsp = stack;
  now.rbx = argument;
  now.orig_rax = ~0ull;
  now.eflags &= ~uint64_t{0x400};  // the direction flag, which functions expect to be clear
  if (!SetRegisters(now)) return Unavailable(thread_, "has ended");
  at_trap_ = in_stop_ = false;
  ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
  const auto end = std::chrono::steady_clock::now() + kCallLimit;
  while (!done()) {
    int status;
    const pid_t found = waitpid(thread_, &status, __WALL | WNOHANG);
    if (found == thread_ && WIFSTOPPED(status)) {
      const uintptr_t signal = SignalToDeliver(status);
      if (signal == 0 && status >> 16 != kEventStop) {
        in_stop_ = true;
        if (WSTOPSIG(status) == SIGSYS) return Unavailable(thread_, kForbidden);
        return absl::InternalError(absl::StrCat("the injected code raised signal ", WSTOPSIG(status)));
      }
      // A stop of the whole process takes effect once the thread is let go.
      ptrace(PTRACE_CONT, thread_, nullptr, reinterpret_cast<void*>(signal));
    } else if (found != 0) {
      traced_ = false;
      return Unavailable(thread_, "has ended");
    }
    if (std::chrono::steady_clock::now() > end) break;
    ReleaseLate();  // it may hold what this one waits for
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  if (absl::Status stopped = BackToTrap(); !stopped.ok()) return stopped;
  if (left()) {  // it may be anywhere
    changed_ = false;
    stopped_ = ReadRegisters(&registers_);
  }
  return done() ? absl::OkStatus() : absl::InternalError("the injected code does not end");
}

bool StoppedThread::Write(uint64_t address, const std::vector<uint8_t>& bytes) {
  for (size_t i = 0; i < bytes.size(); i += sizeof(long)) {
    long word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    if (ptrace(PTRACE_POKEDATA, thread_, address + i, word) != 0) return false;
  }
  return true;
}

}  // namespace vramtrack

#endif  // defined(__x86_64__)
