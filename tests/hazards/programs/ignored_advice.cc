// SPDX-License-Identifier: Apache-2.0
//
// Preloaded: a system that accepts each advice about memory and follows none about forks, as qemu 7 does.
#include <dlfcn.h>
#include <sys/mman.h>

extern "C" int madvise(void* at, size_t bytes, int advice) noexcept {
  if (advice == MADV_DONTFORK || advice == MADV_WIPEONFORK) return 0;
  static const auto next = reinterpret_cast<int (*)(void*, size_t, int)>(dlsym(RTLD_NEXT, "madvise"));
  return next(at, bytes, advice);
}
