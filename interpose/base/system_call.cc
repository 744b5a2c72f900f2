// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/system_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace vramtrack {
namespace {

// The lowest numbers to take, the best one first: a program may be allowed few.
constexpr int kHighDescriptors[] = {900, 200, 50, 10};
constexpr int kFirstOrdinaryDescriptor = 3;

long Result(long value) { return value < 0 ? -errno : value; }

}  // namespace

int OpenForWriting(const char* path, bool exclusive) {
  // Where something else has the name by now, opening it must neither wait nor do anything.
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (exclusive ? O_CREAT | O_EXCL : O_NONBLOCK | O_NOCTTY);
  return static_cast<int>(Result(syscall(SYS_openat, AT_FDCWD, path, flags, 0600)));
}

bool IsRegularFile(const char* path) {
  FileStatus status;
  return StatusOf(path, /*follow_links=*/false, &status) && status.regular;
}

int OpenForReading(const char* path) {
  return static_cast<int>(Result(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)));
}

void Close(int fd) { syscall(SYS_close, fd); }

int MoveUp(int fd) {
  long high = -1;
  for (const int lowest : kHighDescriptors) {
    if (high < 0) high = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
  }
  if (high < 0 && fd >= kFirstOrdinaryDescriptor) return fd;
  if (high < 0) high = Result(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kFirstOrdinaryDescriptor));
  Close(fd);
  return static_cast<int>(high);
}

void Remove(const char* path) { syscall(SYS_unlinkat, AT_FDCWD, path, 0); }

bool IsOpen(int fd) { return syscall(SYS_fcntl, fd, F_GETFD) >= 0; }

bool WorkingDirectory(char* path, size_t capacity) { return syscall(SYS_getcwd, path, capacity) > 0 && path[0] == '/'; }

int WriteAt(int fd, const void* data, size_t bytes, uint64_t offset) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const long written = Result(syscall(SYS_pwrite64, fd, at, bytes, offset));
    if (written == -EINTR) continue;
    if (written < 0) return static_cast<int>(written);
    if (written == 0) return -ENOSPC;
    at += written;
    offset += static_cast<uint64_t>(written);
    bytes -= static_cast<size_t>(written);
  }
  return 0;
}

int ReadAt(int fd, void* data, size_t bytes, uint64_t offset) {
  long got;
  do {
    got = Result(syscall(SYS_pread64, fd, data, bytes, offset));
  } while (got == -EINTR);
  if (got < 0) return static_cast<int>(got);
  return static_cast<size_t>(got) == bytes ? 0 : -EIO;
}

int Allocate(int fd, uint64_t offset, uint64_t bytes) {
  long result;
  do {
    result = Result(syscall(SYS_fallocate, fd, 0, offset, bytes));
  } while (result == -EINTR);
  if (result != -EOPNOTSUPP && result != -ENOSYS) return static_cast<int>(result);
  // A file system that cannot set room aside: writing zeros does.
  static const char zeros[4096] = {};
  for (uint64_t done = 0; done < bytes; done += sizeof zeros) {
    const uint64_t left = bytes - done;
    const int error = WriteAt(fd, zeros, left < sizeof zeros ? left : sizeof zeros, offset + done);
    if (error != 0) return error;
  }
  return 0;
}

namespace {

FileStatus StatusFrom(const struct stat& from) {
  return {static_cast<uint64_t>(from.st_dev),
          static_cast<uint64_t>(from.st_ino),
          static_cast<uint64_t>(from.st_nlink),
          static_cast<uint64_t>(from.st_size),
          static_cast<uint64_t>(from.st_mtim.tv_sec) * 1000000000 + static_cast<uint64_t>(from.st_mtim.tv_nsec),
          S_ISREG(from.st_mode)};
}

}  // namespace

// Without the C library: a preloaded library such as libfaketime may come before it, and is torn down first at exit.
bool StatusOf(int fd, FileStatus* status) {
  struct stat now;
  if (syscall(SYS_fstat, fd, &now) != 0) return false;
  *status = StatusFrom(now);
  return true;
}

bool StatusOf(const char* path, bool follow_links, FileStatus* status) {
  struct stat now;
  if (syscall(SYS_newfstatat, AT_FDCWD, path, &now, follow_links ? 0 : AT_SYMLINK_NOFOLLOW) != 0) return false;
  *status = StatusFrom(now);
  return true;
}

uint64_t FileSizeLimit() {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

void* MapShared(int fd, uint64_t offset, size_t bytes) {
  // Pages of aarch64 may have 16 or 64 KiB.
  const uint64_t before = offset % static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  void* at = mmap(nullptr, bytes + before, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset - before));
  if (at == MAP_FAILED) return nullptr;
  madvise(at, bytes + before, MADV_DONTFORK);
  return static_cast<uint8_t*>(at) + before;
}

void* MapPrivate(size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void* MapTable(size_t bytes) {
  constexpr uint64_t kLargePage = 2 << 20;
  static std::atomic<uint64_t> page, used;
  uint64_t at = page.load(std::memory_order_acquire);
  if (at == 0) {
    const auto mapped = reinterpret_cast<uint64_t>(MapPrivate(2 * kLargePage));
    if (mapped == 0) return nullptr;
    const uint64_t large = (mapped + kLargePage - 1) / kLargePage * kLargePage;
    UseHugePages(reinterpret_cast<void*>(large), kLargePage);
    if (page.compare_exchange_strong(at, large, std::memory_order_acq_rel)) {
      at = large;
    } else {
      Unmap(reinterpret_cast<void*>(mapped), 2 * kLargePage);
    }
  }
  const uint64_t rounded = (bytes + 63) / 64 * 64;
  const uint64_t offset = used.fetch_add(rounded, std::memory_order_relaxed);
  return offset + rounded <= kLargePage ? reinterpret_cast<void*>(at + offset) : MapPrivate(bytes);
}

void* MapWipedOnFork(size_t bytes) {
  void* at = MapPrivate(bytes);
  if (at != nullptr && madvise(at, bytes, MADV_WIPEONFORK) != 0) {
    Unmap(at, bytes);
    return nullptr;
  }
  return at;
}

void UseHugePages(void* at, size_t bytes) { madvise(at, bytes, MADV_HUGEPAGE); }

void Unmap(void* at, size_t bytes) { munmap(at, bytes); }

bool Empty(void* at, size_t bytes) { return madvise(at, bytes, MADV_DONTNEED) == 0; }

int64_t ReadSome(int fd, void* data, size_t bytes) {
  for (;;) {
    const long got = syscall(SYS_read, fd, data, bytes);
    if (got >= 0) return got;
    if (errno != EINTR) return -errno;
  }
}

int64_t ReadOwnMemory(const iovec* local, size_t locals, const iovec* remote, size_t remotes) {
  const long got = syscall(SYS_process_vm_readv, getpid(), local, locals, remote, remotes, 0);
  return got >= 0 ? got : -errno;
}

bool IsReadable(uint64_t address) {
  // The kernel reads the set of signals before it refuses what is to be done with it; a null pointer is not one. No
  // sandbox forbids this call.
  constexpr int kNothing = -1;
  return address != 0 && (syscall(SYS_rt_sigprocmask, kNothing, address, 0, 8) == 0 || errno != EFAULT);
}

void* Remap(void* at, size_t bytes, size_t new_bytes) {
  void* moved = mremap(at, bytes, new_bytes, MREMAP_MAYMOVE);
  return moved == MAP_FAILED ? nullptr : moved;
}

uint32_t ThreadId() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

void Yield() { syscall(SYS_sched_yield); }

void WaitWhile(std::atomic<uint32_t>* word, uint32_t value, uint32_t nanoseconds) {
  const timespec time = {0, static_cast<long>(nanoseconds)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &time, nullptr, 0);
}
void WakeOne(std::atomic<uint32_t>* word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }
void WakeAll(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

bool ThreadCpuNs(uint32_t thread, uint64_t* nanoseconds) {
  // As pthread_getcpuclockid makes it: the number's complement, of one thread, its scheduled time.
  const auto clock = static_cast<clockid_t>(~thread << 3 | 4 | 2);
  timespec time;
  if (syscall(SYS_clock_gettime, clock, &time) != 0) return errno != EINVAL;
  *nanoseconds = static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
  return true;
}

int ReadSmallFile(const char* path, char* buffer, size_t capacity) {
  const int fd = OpenForReading(path);
  if (fd < 0) return fd;
  size_t used = 0;
  while (used + 1 < capacity) {
    const int64_t got = ReadSome(fd, buffer + used, capacity - 1 - used);
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  Close(fd);
  buffer[used] = '\0';
  return static_cast<int>(used);
}

}  // namespace vramtrack
