// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/fatal_end.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "analyzer/base/mapped_range.h"
#include "analyzer/cli/output.h"

namespace vramtrack {
namespace {

constexpr size_t kSignalStackBytes = 64 << 10;
constexpr uintptr_t kNearStackBytes = 1 << 20;  // a function whose frame is larger than that looks into it from its top

std::atomic<void (*)()> end_instead{nullptr}, prepare_end{nullptr};
std::atomic<bool> go_on_after_truncations{false};
struct sigaction bus_before, segv_before;

// One line, so that two threads that end at once do not mix theirs. Async-signal-safe.
void WriteLine(const char* what, const char* about) {
  char line[4096];
  size_t bytes = 0;
  for (const char* part : {"vramtrack: ", about, what}) {
    for (; *part != '\0' && bytes < sizeof line - 1; ++part) {
      const auto c = static_cast<unsigned char>(*part);
      line[bytes++] = c < 0x20 || c == 0x7f ? '?' : *part;
    }
  }
  line[bytes++] = '\n';
  // Ignore the error: stderr was the last channel.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, bytes);
}

[[noreturn]] void End(const char* what, const char* about) {
  static std::atomic<bool> ending{false};
  // Another thread does it.
  while (ending.exchange(true)) pause();
  if (void (*const prepare)() = prepare_end.load()) prepare();
  WriteLine(what, about);
  RemoveUnfinishedOutput();
  if (void (*const end)() = end_instead.load()) end();
  _exit(kExitBadInput);
}

void OnBus(int signal_number, siginfo_t* info, void*) {
  if (go_on_after_truncations && info->si_code == BUS_ADRERR && ReplaceLostEnd(info->si_addr)) return;
  const char* path = info->si_code == BUS_ADRERR ? PathMappedAt(info->si_addr) : nullptr;
  if (path != nullptr) End(kTruncatedText, path);
  if (info->si_code == BUS_ADRERR) End("a file was truncated while it was read (try again)", "");
  sigaction(signal_number, &bus_before, nullptr);  // and the instruction is tried again
}

void OnSegv(int signal_number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
#if defined(__x86_64__)
  const auto stack = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  const auto stack = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.sp);
#else
  const uintptr_t stack = 0;
#endif
  const bool near_stack = address + kNearStackBytes > stack && address < stack + kNearStackBytes;
  if (near_stack) End("stack overflow: an input is nested too deeply", "");
  sigaction(signal_number, &segv_before, nullptr);
}

[[noreturn]] void EndForException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    End("out of memory: the input is too large for this machine, or is corrupt", "");
  } catch (const std::length_error&) {
    End("an input is corrupt: it declares a size that no memory can hold", "");
  } catch (const std::exception& error) {
    End(error.what(), "internal error: ");
  } catch (...) {
    End("internal error: unknown exception", "");
  }
}

[[noreturn]] void OnTerminate() {
  if (std::current_exception() != nullptr) EndForException();
  std::abort();
}

}  // namespace

void InstallFatalEnds() {
  // Of threads too: what no thread catches ends here.
  std::set_terminate(OnTerminate);
  stack_t stack = {};
  stack.ss_size = kSignalStackBytes;
  stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, nullptr) != 0) return;
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = OnBus;
  sigaction(SIGBUS, &action, &bus_before);
  action.sa_sigaction = OnSegv;
  sigaction(SIGSEGV, &action, &segv_before);
}

int RunToExitCode(const std::function<int()>& run) {
  try {
    return run();
  } catch (...) {
    EndForException();
  }
}

void EndFatallyWith(void (*end)()) { end_instead = end; }

void GoOnAfterTruncations() { go_on_after_truncations = true; }

void PrepareFatalEndWith(void (*prepare)()) { prepare_end = prepare; }

}  // namespace vramtrack
