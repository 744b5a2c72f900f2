// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/host_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <iterator>

namespace vramtrack::simcuda {
namespace {

constexpr size_t kHostPageBytes = 4096;

size_t Mapped(size_t bytes) { return (bytes + kHostPageBytes - 1) / kHostPageBytes * kHostPageBytes; }

}  // namespace

HostMemory& HostMemory::Get() {
  // Not destroyed: programs free pinned memory in their own destructors.
  static HostMemory* memory = new HostMemory;
  return *memory;
}

void* HostMemory::Allocate(size_t bytes, Kind kind, unsigned flags, int device, MemoryPool* pool) {
  if (bytes > SIZE_MAX - kHostPageBytes) return nullptr;
  void* address = mmap(nullptr, Mapped(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  char* base = static_cast<char*>(address);
  ranges_[base] = Range{base, bytes, kind, flags, device, pool};
  return address;
}

bool HostMemory::Free(void* address, Kind kind) {
  size_t bytes;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto range = ranges_.find(static_cast<char*>(address));
    if (range == ranges_.end() || range->second.kind != kind) return false;
    bytes = range->second.bytes;
    ranges_.erase(range);
  }
  munmap(address, Mapped(bytes));
  return true;
}

HostMemory::RegisterResult HostMemory::Register(void* address, size_t bytes, unsigned flags, int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  char* base = static_cast<char*>(address);
  auto next = ranges_.lower_bound(base);
  if (next != ranges_.end() && next->first < base + bytes) return RegisterResult::kOverlaps;
  if (next != ranges_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second.bytes > base) return RegisterResult::kOverlaps;
  }
  ranges_[base] = Range{base, bytes, Kind::kRegistered, flags, device, nullptr};
  return RegisterResult::kRegistered;
}

bool HostMemory::Unregister(void* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto range = ranges_.find(static_cast<char*>(address));
  if (range == ranges_.end() || range->second.kind != Kind::kRegistered) return false;
  ranges_.erase(range);
  return true;
}

bool HostMemory::Find(const void* address, Range* found) {
  std::lock_guard<std::mutex> lock(mutex_);
  char* wanted = static_cast<char*>(const_cast<void*>(address));
  auto range = ranges_.upper_bound(wanted);
  if (range == ranges_.begin()) return false;
  --range;
  if (wanted >= range->first + range->second.bytes) return false;
  *found = range->second;
  return true;
}

void HostMemory::FreeAllOf(int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    if (range->second.device != device) {
      ++range;
      continue;
    }
    if (range->second.kind != Kind::kRegistered) munmap(range->first, Mapped(range->second.bytes));
    range = ranges_.erase(range);
  }
}

}  // namespace vramtrack::simcuda
