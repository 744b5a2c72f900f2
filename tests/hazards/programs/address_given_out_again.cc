// SPDX-License-Identifier: Apache-2.0
//
// Threads that take and free the same few addresses as fast as they can: what one frees another has at once, before the
// first has returned.
#include <atomic>
#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

int main() {
  constexpr int kThreads = 4, kRounds = 15000, kSlots = 3;
  static std::atomic<void*> slots[kSlots];
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kRounds; ++i) {
        // Sizes tell the allocations of the threads apart.
        void* mine = Take(static_cast<size_t>(512 - t));
        void* other = slots[(t + i) % kSlots].exchange(mine);
        if (other != nullptr) Give(other);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : slots) {
    if (slot != nullptr) Give(slot);
  }
  std::puts("done");
  return 0;
}
