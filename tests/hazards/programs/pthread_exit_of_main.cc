// SPDX-License-Identifier: Apache-2.0
//
// The first thread ends; the others go on, and the last one ends the process.
#include <pthread.h>
#include <unistd.h>

#include "tests/hazards/programs/device.h"

int main() {
  Pairs(10);
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    const auto body = [](void*) -> void* {
      usleep(20000);
      Pairs(1000);
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, nullptr) != 0) return 1;
    pthread_detach(thread);
  }
  std::puts("first thread ends");
  pthread_exit(nullptr);
}
