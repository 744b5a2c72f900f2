// SPDX-License-Identifier: Apache-2.0
//
// small_thread_stacks BYTES: the process's first CUDA call, and many others, on threads with a stack as small as the
// system allows (0) or of that many bytes if it allows them.
#include <limits.h>
#include <pthread.h>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  const long asked = std::atol(argv[1]);
  const long bytes = asked < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : asked;  // 128 KiB on aarch64
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, static_cast<size_t>(bytes)) != 0) return 1;
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    const auto body = [](void*) -> void* {
      Pairs(1000);
      return nullptr;
    };
    if (pthread_create(&thread, &attributes, body, nullptr) != 0) return 2;
    pthread_join(thread, nullptr);
  }
  std::puts("done");
  return 0;
}
