// SPDX-License-Identifier: Apache-2.0
//
// Computes what a device reserves for memory from cudaMalloc: whole pages of 2 MiB, which small allocations share.
// docs/fragmentation.md gives the source of this model and its consequences.
#ifndef ANALYZER_LEDGER_PAGE_USAGE_H_
#define ANALYZER_LEDGER_PAGE_USAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"

namespace vramtrack {

constexpr uint64_t kDevicePageBytes = 2u << 20;
constexpr uint64_t kSmallGranuleBytes = 512;
constexpr uint64_t kSharedPageBytes = 1u << 20;  // the largest allocation that shares pages, on an H100 with driver 580

// Returns the size to which the device rounds an allocation of `bytes` at `address`.
inline uint64_t RoundedBytes(uint64_t address, uint64_t bytes) {
  const bool pages = bytes > kSharedPageBytes && address % kDevicePageBytes == 0;
  const uint64_t granule = pages ? kDevicePageBytes : kSmallGranuleBytes;
  return (bytes + granule - 1) / granule * granule;
}

// A device's memory in bytes. reserved == live + rounding + free_pinned, exactly.
struct DeviceUsage {
  uint64_t reserved = 0;     // pages that at least one live allocation touches
  uint64_t live = 0;         // as requested
  uint64_t rounding = 0;     // added by the device's granularity
  uint64_t free_pinned = 0;  // free, but in a page with a live allocation
};

// Counts the allocations in each page that none of them fills completely. Memory is proportional to the pages in use.
// Movable, not copyable. Thread-compatible.
class SharedPages {
 public:
  void Change(uint64_t page, bool more) {
    Group& group = GroupOf(page / kGroupPages);
    uint32_t& count = group.counts[page % kGroupPages];
    if (more) {
      if (count++ > 0) return;
      ++pages_;
      if (group.used++ == 0) --unused_groups_;
      return;
    }
    // A free without its allocation comes from a damaged trace only.
    if (count == 0 || --count > 0) return;
    --pages_;
    if (--group.used == 0 && ++unused_groups_ > kMaxUnusedGroups) DropUnused();
  }
  uint64_t size() const { return pages_; }

 private:
  static constexpr uint64_t kGroupPages = 64;
  static constexpr size_t kRecent = 256, kMaxUnusedGroups = 1024;

  struct Group {
    uint64_t index = UINT64_MAX;
    uint32_t used = 0;  // pages with a count
    std::array<uint32_t, kGroupPages> counts{};
  };

  Group& GroupOf(uint64_t index) {
    Group* recent = recent_[index % kRecent];
    return __builtin_expect(recent != nullptr && recent->index == index, 1) ? *recent : FindGroup(index);
  }
  Group& FindGroup(uint64_t index);
  void DropUnused();

  absl::flat_hash_map<uint64_t, std::unique_ptr<Group>> groups_;
  std::array<Group*, kRecent> recent_{};
  uint64_t pages_ = 0;
  size_t unused_groups_ = 0;
};

// Counts the pages that live allocations use. An allocation or free takes constant time, because an allocation shares
// at most its first and its last page with others. Thread-compatible.
class PageUsage {
 public:
  void Add(uint64_t address, uint64_t bytes) { Change(address, bytes, 1); }
  void Remove(uint64_t address, uint64_t bytes) { Change(address, bytes, -1); }
  // Adds memory whose address is unknown. It counts with its rounded size.
  void AddUnplaced(uint64_t bytes) { ChangeUnplaced(bytes, 1); }
  void RemoveUnplaced(uint64_t bytes) { ChangeUnplaced(bytes, -1); }

  uint64_t reserved() const {
    const uint64_t pages = (whole_pages_ + shared_.size()) * kDevicePageBytes + unplaced_;
    // Two live allocations at one address come from a damaged trace only.
    return pages < rounded_ ? rounded_ : pages;
  }
  DeviceUsage usage() const { return {reserved(), live_, rounded_ - live_, reserved() - rounded_}; }

 private:
  void Change(uint64_t address, uint64_t bytes, int by) {
    const auto sign = static_cast<uint64_t>(static_cast<int64_t>(by));
    const uint64_t rounded = RoundedBytes(address, bytes);
    live_ += sign * bytes;
    rounded_ += sign * rounded;
    const uint64_t end = address + rounded;
    uint64_t first = address / kDevicePageBytes;   // first page that is filled
    const uint64_t last = end / kDevicePageBytes;  // first page after the filled ones
    if (address % kDevicePageBytes != 0) {
      shared_.Change(first, by > 0);
      ++first;
    }
    if (end % kDevicePageBytes != 0 && last >= first) shared_.Change(last, by > 0);
    if (last > first) whole_pages_ += sign * (last - first);
  }
  void ChangeUnplaced(uint64_t bytes, int by) {
    const auto sign = static_cast<uint64_t>(static_cast<int64_t>(by));
    live_ += sign * bytes;
    rounded_ += sign * RoundedBytes(0, bytes);
    unplaced_ += sign * RoundedBytes(0, bytes);
  }

  uint64_t live_ = 0, rounded_ = 0, whole_pages_ = 0, unplaced_ = 0;
  SharedPages shared_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_PAGE_USAGE_H_
