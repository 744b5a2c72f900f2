// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/fork_gate.h"

#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "interpose/base/clock.h"
#include "interpose/base/system_call.h"

namespace vramtrack {
namespace {

// A thread inside may not run for long on a machine that is busy, and a fork of a large process takes long.
constexpr uint64_t kPatienceNs = 10000000000;
// Then a waiting thread sleeps, so that the other one may run.
constexpr uint64_t kSpinNs = 200000;
constexpr uint32_t kSleepNs = 500000;

std::atomic<int> inside{0};       // threads
std::atomic<int> forks{0};        // that wait or happen
std::atomic<bool> broken{false};  // somebody went in and never came out: there is no point in waiting again
__thread int depth __attribute__((tls_model("initial-exec"))) = 0;

template <typename Condition>
bool WaitFor(Condition condition) {
  if (condition()) return true;
  const uint64_t start = MonotonicNs();
  std::atomic<uint32_t> never{0};
  while (!condition()) {
    const uint64_t waited = MonotonicNs() - start;
    if (waited > kPatienceNs) return false;
    if (waited < kSpinNs) {
      Yield();
    } else {
      WaitWhile(&never, 0, kSleepNs);
    }
  }
  return true;
}

void BeforeFork() {
  forks.fetch_add(1);
  // A handler of a signal that came inside may fork.
  const int own = depth > 0 ? 1 : 0;
  if (broken.load(std::memory_order_relaxed)) return;
  if (!WaitFor([own] { return inside.load() <= own; })) broken.store(true, std::memory_order_relaxed);
}

void InParent() { forks.fetch_sub(1); }

void InChild() {
  forks.store(0);
  inside.store(depth > 0 ? 1 : 0);
  broken.store(false);
}

}  // namespace

void ForkGate::Install() { pthread_atfork(BeforeFork, InParent, InChild); }

void ForkGate::Enter() {
  if (depth++ > 0) return;
  inside.fetch_add(1);
  if (__builtin_expect(forks.load() == 0, 1)) return;
  inside.fetch_sub(1);
  WaitFor([] { return forks.load() == 0; });
  inside.fetch_add(1);
}

void ForkGate::Leave() {
  if (--depth == 0) inside.fetch_sub(1);
}

}  // namespace vramtrack

extern "C" {

// The linker puts these in the place of dl_iterate_phdr, wherever this library calls it.
using Callback = int (*)(dl_phdr_info*, size_t, void*);
int __real_dl_iterate_phdr(Callback callback, void* data) __attribute__((weak));
int __wrap_dl_iterate_phdr(Callback callback, void* data);

int __wrap_dl_iterate_phdr(Callback callback, void* data) {
  const vramtrack::ForkGateHolder hold;
  return __real_dl_iterate_phdr(callback, data);
}

}  // extern "C"
