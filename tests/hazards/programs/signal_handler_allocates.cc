// SPDX-License-Identifier: Apache-2.0
//
// signal_handler_allocates COUNTS: a timer's handler frees, allocates and throws away what it got, at any moment of the
// main program's own calls. Writes the number of calls made to the file COUNTS: allocations, then frees.
#include <signal.h>
#include <time.h>

#include <cstdint>

#include "tests/hazards/programs/device.h"

namespace {

constexpr int kSignals = 2000;

volatile sig_atomic_t signals = 0;
volatile uint64_t allocations = 0, frees = 0;
void* volatile of_main = nullptr;  // taken by whoever frees it

void OnTimer(int) {
  signals = signals + 1;
  if (signals > kSignals) return;
  Give(Take(64));
  if (void* pointer = of_main) {
    of_main = nullptr;
    Give(pointer);
    frees = frees + 1;
  }
  allocations = allocations + 1;
  frees = frees + 1;
}

__attribute__((noinline)) uint64_t Work(unsigned path, int depth) {
  uint64_t made = 0;
  if (depth == 0) {
    Give(Take(4096));
    of_main = Take(8192);
    return 1;
  }
  if (path & 1) {
    made = Work(path >> 1, depth - 1);
  } else {
    made = Work(path >> 1, depth - 1) + 0 * path;
    asm volatile("nop");
  }
  asm volatile("");
  return made;
}

}  // namespace

int main(int, char** argv) {
  struct sigaction action = {};
  action.sa_handler = OnTimer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  const itimerspec every = {{0, 200000}, {0, 200000}};
  timer_settime(timer, 0, &every, nullptr);
  uint64_t main_calls = 0;
  for (unsigned i = 0; signals < kSignals; ++i) main_calls += Work(i, 12);
  const itimerspec never = {};
  timer_settime(timer, 0, &never, nullptr);
  FILE* counts = std::fopen(argv[1], "w");
  std::fprintf(counts, "%llu %llu\n", static_cast<unsigned long long>(2 * main_calls + allocations),
               static_cast<unsigned long long>(main_calls + frees));
  std::fclose(counts);
  std::puts("done");
  return 0;
}
