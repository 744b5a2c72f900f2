// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/mapped_range.h"

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
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Slot& slot : slots) {
    // The last page of a file is mapped as a whole.
    constexpr uintptr_t kPage = 4096;
    if (at >= slot.begin && at < ((slot.end + kPage - 1) & ~(kPage - 1))) return slot.path;
  }
  return nullptr;
}

}  // namespace vramtrack
