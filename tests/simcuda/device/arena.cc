// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/small_page.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace vramtrack::simcuda {
namespace {

// Far from where Linux puts programs, libraries and stacks, so that the range is free in nearly every process.
constexpr uintptr_t kFirstArena = uintptr_t{0x200000000000};
constexpr uintptr_t kArenaDistance = uintptr_t{1} << 41;

constexpr int kReserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

char* ReserveAddresses(char* hint, size_t bytes, size_t alignment) {
#ifdef __SANITIZE_THREAD__
  hint = nullptr;  // the thread sanitizer keeps these addresses for itself and would map the range at address 0 instead
#endif
  if (hint != nullptr) {
    void* exact = mmap(hint, bytes, PROT_NONE, kReserve | MAP_FIXED_NOREPLACE, -1, 0);
    if (exact == hint) return hint;
    // A kernel before 4.17 takes the flag for a wish.
    if (exact != MAP_FAILED) munmap(exact, bytes);
  }
  void* loose = mmap(nullptr, bytes + alignment, PROT_NONE, kReserve, -1, 0);
  if (loose == MAP_FAILED) return nullptr;
  const uintptr_t start = reinterpret_cast<uintptr_t>(loose);
  const uintptr_t aligned = (start + alignment - 1) / alignment * alignment;
  if (aligned != start) munmap(loose, aligned - start);
  const size_t behind = start + alignment - aligned;
  if (behind != 0) munmap(reinterpret_cast<void*>(aligned + bytes), behind);
  return reinterpret_cast<char*>(aligned);
}

void ReleaseAddresses(char* address, size_t bytes) { munmap(address, bytes); }

Arena::Arena(int device, size_t bytes, bool backed)
    : bytes_(bytes), touched_(new std::atomic<uint64_t>[bytes / kPageBytes / 64 + 1]()) {
  base_ = ReserveAddresses(reinterpret_cast<char*>(kFirstArena + device * kArenaDistance), bytes, kPageBytes);
  if (base_ == nullptr) {
    LogLine("device %d has no memory: cannot reserve %zu bytes of addresses: %s", device, bytes, strerror(errno));
    bytes_ = 0;
    return;
  }
  // A core dump of the process shall not hold tens of gigabytes of nothing.
  madvise(base_, bytes, MADV_DONTDUMP);
  if (!backed) return;
  file_ = memfd_create("simcuda", MFD_CLOEXEC);
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes)) == 0 &&
      MapAlias(base_, 0, bytes, PROT_READ | PROT_WRITE)) {
    madvise(base_, bytes, MADV_DONTDUMP);
    return;
  }
  LogLine("device %d has no backing: %s", device, strerror(errno));
  if (file_ >= 0) close(file_);
  file_ = -1;
}

Arena::~Arena() {
  if (base_ != nullptr) munmap(base_, bytes_);
  if (file_ >= 0) close(file_);
}

void Arena::Touch(const void* address, size_t bytes) {
  if (bytes == 0) return;
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - base_);
  for (size_t page = offset / kPageBytes; page <= (offset + bytes - 1) / kPageBytes; ++page) {
    const uint64_t bit = uint64_t{1} << (page % 64);
    if ((touched_[page / 64].load(std::memory_order_relaxed) & bit) == 0) {
      touched_[page / 64].fetch_or(bit, std::memory_order_relaxed);
    }
  }
}

void Arena::Clear(void* address, size_t bytes) {
  char* at = static_cast<char*>(address);
  char* const end = at + bytes;
  while (at < end) {
    const size_t page = static_cast<size_t>(at - base_) / kPageBytes;
    char* const page_end = std::min(base_ + (page + 1) * kPageBytes, end);
    const size_t length = static_cast<size_t>(page_end - at);
    const uint64_t bit = uint64_t{1} << (page % 64);
    if (length == kPageBytes) {
      Discard(page, 1);
    } else if ((touched_[page / 64].load(std::memory_order_relaxed) & bit) != 0) {
      memset(at, 0, length);
    }
    at = page_end;
  }
}

void Arena::Discard(size_t first_page, size_t pages) {
  for (size_t page = first_page; page < first_page + pages; ++page) {
    if (page % 64 == 0 && page + 64 <= first_page + pages && touched_[page / 64].load(std::memory_order_relaxed) == 0) {
      page += 63;
      continue;
    }
    const uint64_t bit = uint64_t{1} << (page % 64);
    if ((touched_[page / 64].load(std::memory_order_relaxed) & bit) == 0) continue;
    touched_[page / 64].fetch_and(~bit, std::memory_order_relaxed);
    madvise(base_ + page * kPageBytes, kPageBytes, MADV_REMOVE);
  }
}

bool Arena::MapAlias(void* address, size_t offset, size_t bytes, int protection) const {
  return file_ >= 0 && mmap(address, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_,
                            static_cast<off_t>(offset)) != MAP_FAILED;
}

}  // namespace vramtrack::simcuda
