// SPDX-License-Identifier: Apache-2.0
//
// A library that asks CUPTI for its records while it is loaded, which is not seen, and asks again when CUPTI calls it
// back in the thread of another tool.
#include <dlfcn.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <atomic>

#include "tests/cupti/programs/rounds.h"

namespace {

std::atomic<long> waited_ms{-1};

long NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void Ask(uint8_t** buffer, size_t* bytes, size_t*) {
  constexpr size_t kBytes = 1 << 20;
  *buffer = static_cast<uint8_t*>(aligned_alloc(64, kBytes));
  *bytes = kBytes;
}

void Take(void*, uint32_t, uint8_t*, size_t, size_t) {
  char thread[16] = "";
  prctl(PR_GET_NAME, thread);
  if (waited_ms.load() >= 0 || strcmp(thread, "vramtrack-cupti") != 0) return;
  void* library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  const auto again =
      reinterpret_cast<decltype(&cuptiActivityRegisterCallbacks)>(dlsym(library, "cuptiActivityRegisterCallbacks"));
  const long before = NowMs();
  if (again != nullptr && again(Ask, Take) == 0) waited_ms.store(NowMs() - before);
}

__attribute__((constructor)) void Begin() { cuptiActivityRegisterCallbacks(Ask, Take); }

}  // namespace

// How long the second call took, -1 as long as there was none.
extern "C" long WaitedMs() { return waited_ms.load(); }
