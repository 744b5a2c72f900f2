// SPDX-License-Identifier: Apache-2.0
//
// usage: threads STEPS: four threads that allocate buffers of random sizes in each step, in whatever order they come.
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "buffer.h"

extern "C" void vramtrack_step(uint64_t number, double value) __attribute__((weak));

namespace {

constexpr int kThreads = 4, kRounds = 20;

void Serve(std::mt19937* random) {
  for (int round = 0; round < kRounds; ++round) {
    const Buffer request(kMiB + (*random)() % (8 * kMiB));  // @request
    const Buffer answer(kMiB + (*random)() % (2 * kMiB));   // @answer
    if ((*random)() % 16 == 0) {
      const Buffer rare((*random)() % (32 * kMiB));  // @rare
    }
    if ((*random)() % 4 == 0) std::this_thread::yield();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 60;
  const Buffer model(64 * kMiB);  // @model
  std::random_device seed;        // each run is another one
  std::vector<std::mt19937> randoms;
  for (int i = 0; i < kThreads; ++i) randoms.emplace_back(seed());
  for (int step = 0; step < steps; ++step) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(Serve, &randoms[static_cast<size_t>(i)]);
    for (std::thread& thread : threads) thread.join();
    if (vramtrack_step) vramtrack_step(static_cast<uint64_t>(step), 0);
  }
}
