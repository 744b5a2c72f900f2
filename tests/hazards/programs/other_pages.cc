// SPDX-License-Identifier: Apache-2.0
//
// Preloaded: a machine whose pages have PAGE_KIB, 16 or 64 as many with aarch64 have, as far as a mapping of a file
// shows it.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {
long PageBytes() {
  const char* kib = getenv("PAGE_KIB");
  return kib == nullptr ? 4096 : atol(kib) << 10;
}
}  // namespace

extern "C" long sysconf(int name) noexcept {
  if (name == _SC_PAGESIZE) return PageBytes();
  static const auto next = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
  return next(name);
}

extern "C" void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static const auto next = reinterpret_cast<void* (*)(void*, size_t, int, int, int, off_t)>(dlsym(RTLD_NEXT, "mmap"));
  if (offset % PageBytes() != 0) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  return next(at, bytes, protection, flags, fd, offset);
}
