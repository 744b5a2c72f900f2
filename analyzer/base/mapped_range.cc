// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/mapped_range.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

namespace vramtrack {
namespace {

// Two for each file that is open, as many as threads read at once and some libraries.
constexpr int kSlots = 512;

struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<const char*> path{nullptr};
};
Slot slots[kSlots];
std::atomic<uint64_t> replaced_ends{0};
const uintptr_t page_mask = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1;

// The slot whose range has the address, or null. The last page of a file is mapped as a whole.
const Slot* SlotOf(uintptr_t at) {
  for (const Slot& slot : slots) {
    if (at >= slot.begin && at < ((slot.end + page_mask) & ~page_mask)) return &slot;
  }
  return nullptr;
}

}  // namespace

MappedRange::MappedRange(const void* begin, size_t bytes, const std::string& path) : path_(new char[path.size() + 1]) {
  std::memcpy(path_.get(), path.c_str(), path.size() + 1);
  for (int i = 0; i < kSlots; ++i) {
    if (slots[i].taken.exchange(true)) continue;
    slots[i].path = path_.get();
    slots[i].end = reinterpret_cast<uintptr_t>(begin) + bytes;
    slots[i].begin = reinterpret_cast<uintptr_t>(begin);
    slot_ = i;
    return;
  }
}

MappedRange::MappedRange(MappedRange&& other) noexcept
    : path_(std::move(other.path_)), slot_(std::exchange(other.slot_, -1)) {}

MappedRange& MappedRange::operator=(MappedRange&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(slot_, other.slot_);
  return *this;
}

MappedRange::~MappedRange() {
  if (slot_ < 0) return;
  slots[slot_].begin = 0;
  slots[slot_].end = 0;
  slots[slot_].path = nullptr;
  slots[slot_].taken = false;
}

const char* PathMappedAt(const void* address) {
  const Slot* slot = SlotOf(reinterpret_cast<uintptr_t>(address));
  return slot == nullptr ? nullptr : slot->path.load();
}

bool ReplaceLostEnd(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const Slot* slot = SlotOf(at);
  if (slot == nullptr) return false;
  const uintptr_t begin = at & ~page_mask, end = (slot->end + page_mask) & ~page_mask;
  if (mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED) {
    return false;
  }
  ++replaced_ends;
  return true;
}

uint64_t ReplacedEnds() { return replaced_ends; }

}  // namespace vramtrack
