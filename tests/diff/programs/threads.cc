// SPDX-License-Identifier: Apache-2.0
//
// usage: threads STEPS SEED: four threads that allocate buffers of random sizes in each step, in whatever order they
// come. All four hold theirs at once in each round, however busy the machine is: two runs differ by their sizes only.
#include <pthread.h>

#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "buffer.h"

extern "C" void vramtrack_step(uint64_t number, double value) __attribute__((weak));

namespace {

constexpr int kThreads = 4, kRounds = 20;

pthread_barrier_t all_hold, all_freed;

void Serve(std::mt19937* random) {
  for (int round = 0; round < kRounds; ++round) {
    pthread_barrier_wait(&all_freed);
    const Buffer request(kMiB + (*random)() % (8 * kMiB));  // @request
    const Buffer answer(kMiB + (*random)() % (2 * kMiB));   // @answer
    if ((*random)() % 16 == 0) {
      const Buffer rare((*random)() % (32 * kMiB));  // @rare
    }
    if ((*random)() % 4 == 0) std::this_thread::yield();
    pthread_barrier_wait(&all_hold);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 60;
  const Buffer model(64 * kMiB);  // @model
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0;
  std::vector<std::mt19937> randoms;
  for (unsigned i = 0; i < kThreads; ++i) randoms.emplace_back(seed * kThreads + i);
  pthread_barrier_init(&all_hold, nullptr, kThreads);
  pthread_barrier_init(&all_freed, nullptr, kThreads);
  for (int step = 0; step < steps; ++step) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(Serve, &randoms[static_cast<size_t>(i)]);
    for (std::thread& thread : threads) thread.join();
    if (vramtrack_step) vramtrack_step(static_cast<uint64_t>(step), 0);
  }
}
