// SPDX-License-Identifier: Apache-2.0
//
// Threads that are cancelled between their calls, where the C library unwinds their stacks.
#include <pthread.h>
#include <unistd.h>

#include <cstdint>

#include "tests/hazards/programs/device.h"

namespace {

struct Holder {
  void* pointer = Take(256);
  ~Holder() { Give(pointer); }
};

__attribute__((noinline)) void Deep(int depth) {
  Holder holder;
  if (depth > 0) {
    Deep(depth - 1);
    asm volatile("");
    return;
  }
  for (;;) {
    Pairs(1);
    pthread_testcancel();
  }
}

}  // namespace

int main() {
  int cancelled = 0;
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    const auto body = [](void* depth) -> void* {
      Deep(static_cast<int>(reinterpret_cast<intptr_t>(depth)));
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, reinterpret_cast<void*>(intptr_t{i % 10})) != 0) return 1;
    usleep(500);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  std::printf("%d\n", cancelled);
  return 0;
}
