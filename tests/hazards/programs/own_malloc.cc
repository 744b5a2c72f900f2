// SPDX-License-Identifier: Apache-2.0
//
// A program with an allocator of its own, which everybody finds first. Its lock is not recursive, and it calls CUDA
// with the lock held, as one does that hands out pinned memory: whoever calls malloc inside that call hangs.
#include <pthread.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>

#include "tests/hazards/programs/device.h"

namespace {

constexpr size_t kArenaBytes = size_t{64} << 20;
alignas(64) char arena[kArenaBytes];
size_t used = 0;
volatile bool held = false;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile int pinned = 0;
__thread bool inside = false;

void* Allocate(size_t bytes, size_t alignment) {
  if (inside) {
    // Not through stdio, which allocates.
    const char text[] = "malloc inside a CUDA call\n";
    if (fwrite(text, 1, 0, stdout) == 0) std::_Exit(99);
  }
  pthread_mutex_lock(&lock);
  held = true;
  size_t at = (used + 16 + alignment - 1) / alignment * alignment;
  if (at + bytes > kArenaBytes) {
    held = false;
    pthread_mutex_unlock(&lock);
    errno = ENOMEM;
    return nullptr;
  }
  used = at + bytes;
  std::memcpy(arena + at - 8, &bytes, 8);
  if (bytes >= 4096) {
    void* pointer = nullptr;
    inside = true;
    cudaMallocHost(&pointer, bytes);
    inside = false;
    pinned = pinned + 1;
  }
  held = false;
  pthread_mutex_unlock(&lock);
  return arena + at;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void* malloc(size_t bytes) { return Allocate(bytes, 16); }
__attribute__((visibility("default"))) void free(void*) {}
__attribute__((visibility("default"))) void* calloc(size_t n, size_t bytes) { return Allocate(n * bytes, 16); }
__attribute__((visibility("default"))) void* memalign(size_t alignment, size_t bytes) {
  return Allocate(bytes, alignment);
}
__attribute__((visibility("default"))) void* aligned_alloc(size_t alignment, size_t bytes) {
  return Allocate(bytes, alignment);
}
__attribute__((visibility("default"))) int posix_memalign(void** out, size_t alignment, size_t bytes) {
  *out = Allocate(bytes, alignment);
  return *out == nullptr ? ENOMEM : 0;
}
__attribute__((visibility("default"))) void* realloc(void* old, size_t bytes) {
  void* fresh = Allocate(bytes, 16);
  if (old == nullptr || fresh == nullptr) return fresh;
  size_t old_bytes;
  std::memcpy(&old_bytes, static_cast<char*>(old) - 8, 8);
  std::memcpy(fresh, old, old_bytes < bytes ? old_bytes : bytes);
  return fresh;
}

}  // extern "C"

int main() {
  static char buffer[1024];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  for (int i = 0; i < 50; ++i) {
    std::thread([] {
      for (int j = 0; j < 20; ++j) {
        char* block = static_cast<char*>(std::malloc(8192));
        std::memset(block, j, 8192);
      }
    }).join();
  }
  std::printf("%s\n", pinned >= 1000 ? "pinned" : "not pinned");
  return 0;
}
