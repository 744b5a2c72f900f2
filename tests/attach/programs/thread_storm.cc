// SPDX-License-Identifier: Apache-2.0
//
// Threads that begin and end all the time.
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/attach/programs/joined.h"

namespace {

thread_local std::vector<int> of_thread;

void* Double(void* number) {
  of_thread.assign(100, 1);
  return reinterpret_cast<void*>(2 * reinterpret_cast<uintptr_t>(number));
}

}  // namespace

int main() {
  std::atomic<bool> ends{false};
  std::vector<std::thread> makers;
  for (int i = 0; i < 3; ++i) {
    makers.emplace_back([&ends] {
      for (uintptr_t number = 0; !ends; ++number) {
        pthread_t threads[4];
        for (uintptr_t k = 0; k < 4; ++k) {
          const int error = pthread_create(&threads[k], nullptr, Double, reinterpret_cast<void*>(number + k));
          Check(error == 0, "pthread_create", error);
        }
        for (uintptr_t k = 0; k < 4; ++k) {
          void* result;
          Check(pthread_join(threads[k], &result) == 0, "pthread_join");
          Check(reinterpret_cast<uintptr_t>(result) == 2 * (number + k), "the result of a thread");
        }
      }
    });
  }
  Ready();
  while (!Ended()) usleep(1000);
  ends = true;
  for (std::thread& maker : makers) maker.join();
  return Fine();
}
