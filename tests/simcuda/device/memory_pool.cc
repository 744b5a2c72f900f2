// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/memory_pool.h"

#include <algorithm>

namespace vramtrack::simcuda {
namespace {

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

MemoryPool::~MemoryPool() { Clear(); }

char* MemoryPool::AllocateOnHost(size_t bytes) {
  char* base = static_cast<char*>(HostMemory::Get().Allocate(bytes, host_kind_, 0, device_, this));
  if (base == nullptr) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  live_.emplace(base, Live{bytes, bytes});
  usage_.used += bytes;
  usage_.reserved += bytes;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
  usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
  return base;
}

char* MemoryPool::Allocate(size_t bytes) {
  if (on_host()) return AllocateOnHost(bytes);
  if (bytes > memory_->total_bytes()) return nullptr;
  const size_t taken = RoundUp(std::max(bytes, size_t{1}), kUnitBytes);
  std::lock_guard<std::mutex> lock(mutex_);
  char* base = Cut(taken);
  if (base == nullptr && Grow(taken)) base = Cut(taken);
  if (base == nullptr) return nullptr;
  live_.emplace(base, Live{bytes, taken});
  usage_.used += taken;
  usage_.used_high = std::max(usage_.used_high, usage_.used);
  return base;
}

bool MemoryPool::Free(void* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto live = live_.find(static_cast<char*>(address));
  if (live == live_.end()) return false;
  const size_t taken = live->second.taken;
  live_.erase(live);
  usage_.used -= taken;
  if (on_host()) {
    usage_.reserved -= taken;
    return HostMemory::Get().Free(address, host_kind_);
  }
  AddFree(static_cast<char*>(address), taken);
  return true;
}

bool MemoryPool::Find(const void* address, char** base, size_t* bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  char* wanted = static_cast<char*>(const_cast<void*>(address));
  auto live = live_.upper_bound(wanted);
  if (live == live_.begin()) return false;
  --live;
  if (wanted >= live->first + live->second.taken) return false;
  *base = live->first;
  *bytes = live->second.bytes;
  return true;
}

void MemoryPool::TrimTo(uint64_t keep_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (on_host()) return;
  TrimLocked(keep_bytes);
}

void MemoryPool::Synchronized() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!on_host() && usage_.reserved > usage_.threshold) TrimLocked(usage_.threshold);
}

void MemoryPool::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (on_host()) {
    for (const auto& live : live_) HostMemory::Get().Free(live.first, host_kind_);
  }
  for (const auto& chunk : chunks_) memory_->ReturnPages(chunk.first);
  chunks_.clear();
  free_.clear();
  free_by_size_.clear();
  live_.clear();
  usage_.reserved = 0;
  usage_.used = 0;
}

MemoryPool::Usage MemoryPool::usage() {
  std::lock_guard<std::mutex> lock(mutex_);
  return usage_;
}

void MemoryPool::set_threshold(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  usage_.threshold = bytes;
}

void MemoryPool::ResetReservedHigh() {
  std::lock_guard<std::mutex> lock(mutex_);
  usage_.reserved_high = usage_.reserved;
}

void MemoryPool::ResetUsedHigh() {
  std::lock_guard<std::mutex> lock(mutex_);
  usage_.used_high = usage_.used;
}

void MemoryPool::SetAccess(int device, int flags) {
  std::lock_guard<std::mutex> lock(mutex_);
  access_[device] = flags;
}

int MemoryPool::GetAccess(int device) {
  constexpr int kReadWrite = 3;
  std::lock_guard<std::mutex> lock(mutex_);
  if (device == device_) return kReadWrite;
  auto found = access_.find(device);
  return found == access_.end() ? 0 : found->second;
}

char* MemoryPool::Cut(size_t taken) {
  auto fit = free_by_size_.lower_bound({taken, nullptr});
  if (fit == free_by_size_.end()) return nullptr;
  auto range = free_.find(fit->second);
  char* base = range->first;
  const size_t rest = range->second - taken;
  free_by_size_.erase(fit);
  // What is left keeps its place in the order, so the node can be used again.
  auto node = free_.extract(range);
  if (rest != 0) {
    node.key() = base + taken;
    node.mapped() = rest;
    free_by_size_.emplace(rest, base + taken);
    free_.insert(std::move(node));
  }
  return base;
}

bool MemoryPool::Grow(size_t taken) {
  const size_t least = RoundUp(taken, kPageBytes);
  for (size_t bytes : {std::max(kChunkBytes, least), least}) {
    if (max_bytes_ != 0 && usage_.reserved + bytes > max_bytes_) continue;
    char* base = memory_->TakePages(bytes / kPageBytes, PageUse::kPool, this);
    if (base == nullptr) continue;
    chunks_.emplace(base, bytes);
    free_.emplace(base, bytes);
    free_by_size_.emplace(bytes, base);
    usage_.reserved += bytes;
    usage_.reserved_high = std::max(usage_.reserved_high, usage_.reserved);
    return true;
  }
  return false;
}

void MemoryPool::AddFree(char* base, size_t bytes) {
  auto next = free_.lower_bound(base);
  // Chunks are given back one by one, so ranges of neighbouring chunks stay apart.
  if (next != free_.end() && base + bytes == next->first && chunks_.count(next->first) == 0) {
    bytes += next->second;
    auto after = std::next(next);
    RemoveFree(next);
    next = after;
  }
  if (next != free_.begin() && chunks_.count(base) == 0) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == base) {
      base = previous->first;
      bytes += previous->second;
      RemoveFree(previous);
    }
  }
  free_.emplace_hint(next, base, bytes);
  free_by_size_.emplace(bytes, base);
}

void MemoryPool::RemoveFree(std::map<char*, size_t>::iterator range) {
  free_by_size_.erase({range->second, range->first});
  free_.erase(range);
}

void MemoryPool::TrimLocked(uint64_t keep_bytes) {
  for (auto chunk = chunks_.begin(); chunk != chunks_.end();) {
    auto range = free_.find(chunk->first);
    const bool is_free = range != free_.end() && range->second == chunk->second;
    if (!is_free || usage_.reserved < keep_bytes + chunk->second) {
      ++chunk;
      continue;
    }
    RemoveFree(range);
    usage_.reserved -= chunk->second;
    memory_->ReturnPages(chunk->first);
    chunk = chunks_.erase(chunk);
  }
}

}  // namespace vramtrack::simcuda
