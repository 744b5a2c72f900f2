// SPDX-License-Identifier: Apache-2.0
//
// One thread stops the other one at any moment, by a signal, as collectors of garbage do, and calls CUDA while it
// stands still: whoever waits for what the other holds waits for ever.
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "tests/hazards/programs/device.h"

namespace {

std::atomic<bool> stopped{false}, go_on{false}, done{false};

void StandStill(int) {
  stopped = true;
  while (!go_on) {
  }
  stopped = false;
}

}  // namespace

int main() {
  struct sigaction action = {};
  action.sa_handler = StandStill;
  sigaction(SIGUSR2, &action, nullptr);
  Pairs(1);
  std::thread other([] {
    for (unsigned i = 0; !done; ++i) Varied(i, 20);
  });
  for (unsigned round = 0; round < 300; ++round) {
    go_on = false;
    pthread_kill(other.native_handle(), SIGUSR2);
    while (!stopped) {
    }
    for (unsigned i = 0; i < 40; ++i) Varied(~(round * 40 + i), 20);
    go_on = true;
    while (stopped) {
    }
  }
  done = true;
  other.join();
  std::puts("done");
  return 0;
}
