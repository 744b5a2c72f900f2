// SPDX-License-Identifier: Apache-2.0
//
// Threads that use the heap and the device by turns, and throw; for other allocators and for the address sanitizer.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

int main() {
  std::atomic<int> caught{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        std::vector<std::unique_ptr<std::string>> strings;
        void* pointer = Take(512);
        for (int j = 0; j < 50; ++j) strings.push_back(std::make_unique<std::string>(100, 'x'));
        Give(pointer);
        try {
          throw std::runtime_error(*strings.back());
        } catch (const std::exception&) {
          ++caught;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d\n", caught.load());
  return 0;
}
