// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attach/safe_moment.h"

#if defined(__x86_64__)

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

// The most of a stack that is searched for signal handlers.
constexpr uint64_t kMostStackBytes = 8 << 20;

// Libraries whose code may hold what pthread_create needs.
constexpr const char* kUnsafeLibraries[] = {
    "libc.so",     "libc-2.",      "ld-linux",     "ld-2.",       "libpthread", "libdl.so",
    "libdl-2.",    "libjemalloc",  "libtcmalloc",  "libmimalloc", "libasan",    "libtsan",
    "liblsan",     "libubsan",     "libmsan",      "libhoard",    "libscudo",   "libsnmalloc",
    "libprofiler", "libheaptrack", "libvramtrack", "[vdso]",      "[vsyscall]",
};

bool IsUnsafeLibrary(const Mapping& mapping) {
  const std::string name = mapping.path[0] == '[' ? mapping.path : mapping.name();
  for (const char* library : kUnsafeLibraries) {
    if (absl::StartsWith(name, library)) return true;
  }
  return false;
}

// Waits for its own locks use FUTEX_WAIT in the C library, condition variables and joins FUTEX_WAIT_BITSET.
bool IsWaitForOthers(uint64_t operation) { return (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET; }

// System calls in which a thread waits. No allocator and no function of the loader makes them while it holds a lock.
bool IsWaitingCall(uint64_t number, uint64_t second_argument) {
  switch (number) {
    case SYS_futex:
      return IsWaitForOthers(second_argument);
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_pause:
    case SYS_rt_sigtimedwait:
    case SYS_fsync:
    case SYS_fdatasync:
      return true;
    default:
      return false;
  }
}

// The kernel restarts them itself after a stop.
bool IsRestarted(uint64_t number) {
  return number == SYS_futex || number == SYS_poll || number == SYS_nanosleep || number == SYS_clock_nanosleep ||
         number == SYS_read || number == SYS_select || number == SYS_pselect6 || number == SYS_ppoll ||
         number == SYS_wait4;
}

}  // namespace

// The C library's signal handlers return to code that makes the system call rt_sigreturn.
SafeMoments::SafeMoments(const TargetProcess& process)
    : process_(process), program_has_heap_(process.ProgramHas("malloc")) {
  static constexpr unsigned char kCode[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};  // mov $15, %rax; syscall
  for (const Mapping& mapping : process.mappings()) {
    if (!mapping.executable || mapping.path.empty() || !IsUnsafeLibrary(mapping)) continue;
    std::string code(mapping.end - mapping.begin, '\0');
    if (!process.Read(mapping.begin, &code[0], code.size())) continue;
    const std::string pattern(reinterpret_cast<const char*>(kCode), sizeof kCode);
    for (size_t at = code.find(pattern); at != std::string::npos; at = code.find(pattern, at + 1)) {
      handler_returns_.push_back(mapping.begin + at);
    }
  }
}

// The word may also be left over from a handler that has returned. Then another moment is found.
bool SafeMoments::IsInHandler(uint64_t stack_pointer) const {
  const Mapping* const mapping = process_.Find(stack_pointer);
  // The main thread's stack grows; what is above its old end is known.
  uint64_t end = mapping != nullptr ? mapping->end : 0;
  for (const Mapping& each : process_.mappings()) {
    if (end == 0 && each.begin > stack_pointer) end = each.end;
  }
  if (end == 0) return true;
  end = std::min(end, stack_pointer + kMostStackBytes);
  std::vector<uint64_t> words((end - stack_pointer) / sizeof(uint64_t));
  if (!process_.Read(stack_pointer / 8 * 8, words.data(), words.size() * sizeof(uint64_t))) return true;
  for (const uint64_t at : handler_returns_) {
    if (std::find(words.begin(), words.end(), at) != words.end()) return true;
  }
  return false;
}

bool SafeMoments::IsSafe(const StoppedThread& thread, std::string* why) const {
  const user_regs_struct& registers = thread.registers();
  if (thread.in_system_call()) {
    if (!IsWaitingCall(registers.orig_rax, registers.rsi)) {
      *why = absl::StrCat("in system call ", registers.orig_rax);
      return false;
    }
  } else {
    const Mapping* const code = process_.Find(registers.rip);
    if (code == nullptr) {
      *why = "in code that was loaded just now";
      return false;
    }
    if (!code->path.empty() && IsUnsafeLibrary(*code)) {
      *why = "in " + code->name();
      return false;
    }
    char program[PATH_MAX];
    const ssize_t bytes =
        program_has_heap_ ? readlink(absl::StrCat("/proc/", process_.pid(), "/exe").c_str(), program, sizeof program)
                          : 0;
    if (bytes > 0 && code->path == std::string(program, static_cast<size_t>(bytes))) {
      *why = "in a program with an allocator of its own";
      return false;
    }
  }
  if (IsInHandler(registers.rsp)) {
    *why = "in a signal handler";
    return false;
  }
  return true;
}

std::vector<pid_t> SafeMoments::Candidates() const {
  std::vector<pid_t> waiting, others;
  for (const pid_t thread : process_.Threads()) {
    std::ifstream file(absl::StrCat("/proc/", process_.pid(), "/task/", thread, "/syscall"));
    std::string line;
    std::getline(file, line);
    std::istringstream fields(line);
    uint64_t number = 0, first = 0, second = 0;
    const bool in_call = static_cast<bool>(fields >> std::dec >> number >> std::hex >> std::ws) &&
                         static_cast<bool>(fields >> first >> second);
    const bool good = in_call && IsWaitingCall(number, second);
    if (good && IsRestarted(number)) {
      waiting.push_back(thread);
    } else if (good || absl::StartsWith(line, "running") || line.empty()) {
      others.push_back(thread);
    }
  }
  waiting.insert(waiting.end(), others.begin(), others.end());
  return waiting;
}

}  // namespace vramtrack

#endif  // defined(__x86_64__)
