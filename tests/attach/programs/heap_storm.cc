// SPDX-License-Identifier: Apache-2.0
//
// Threads that are in malloc, realloc and free nearly all the time, and look at what they have stored.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/attach/programs/joined.h"

int main() {
  std::atomic<bool> ends{false};
  const auto work = [&ends](unsigned seed) {
    constexpr size_t kSlots = 256;
    std::vector<unsigned char*> blocks(kSlots);
    std::vector<size_t> sizes(kSlots);
    while (!ends.load(std::memory_order_relaxed)) {
      for (int i = 0; i < 1000; ++i) {
        seed = seed * 1664525u + 1013904223u;
        const size_t slot = seed >> 24, bytes = 1 + (seed >> 8) % ((seed & 7) == 0 ? 200000 : 300);
        const auto mark = static_cast<unsigned char>(slot * 7 + 1);
        if (blocks[slot] != nullptr) {
          Check(blocks[slot][0] == mark && blocks[slot][sizes[slot] - 1] == mark, "a block has changed");
        }
        if ((seed & 8) != 0) {
          blocks[slot] = static_cast<unsigned char*>(std::realloc(blocks[slot], bytes));
        } else {
          std::free(blocks[slot]);
          blocks[slot] = static_cast<unsigned char*>(std::malloc(bytes));
        }
        Check(blocks[slot] != nullptr, "out of memory");
        sizes[slot] = bytes;
        blocks[slot][0] = blocks[slot][bytes - 1] = mark;
      }
    }
    for (unsigned char* block : blocks) std::free(block);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < 4; ++i) threads.emplace_back(work, i);
  std::thread watcher([&ends] {
    while (!Ended()) usleep(1000);
    ends = true;
  });
  Ready();
  work(99);
  for (std::thread& thread : threads) thread.join();
  watcher.join();
  return Fine();
}
