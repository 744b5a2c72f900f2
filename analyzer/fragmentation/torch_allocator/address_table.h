// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ADDRESS_TABLE_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ADDRESS_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vramtrack::torch_allocator {

// Maps addresses to numbers. A hash table that is searched and changed several times for each block, so each access
// costs one multiplication and usually one cache line. Thread-compatible.
class AddressTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Returns kNone if the address is not in the table.
  uint32_t Find(uint64_t address) const {
    for (size_t at = PlaceOf(address);; at = Next(at)) {
      if (entries_[at].number == kNone || entries_[at].address == address) return entries_[at].number;
    }
  }

  void Set(uint64_t address, uint32_t number) { *NumberOf(address) = number; }

  // Like Set, unless the address is in the table. Returns whether it was not.
  bool Add(uint64_t address, uint32_t number) {
    uint32_t* const known = NumberOf(address);
    if (*known != kNone) return false;
    *known = number;
    return true;
  }

  // Returns the number that the address had; kNone if it was not in the table.
  uint32_t Erase(uint64_t address) {
    size_t gap = PlaceOf(address);
    while (entries_[gap].number != kNone && entries_[gap].address != address) gap = Next(gap);
    const uint32_t erased = entries_[gap].number;
    if (erased == kNone) return kNone;
    --size_;
    // Entries that the erased one displaced move back.
    for (size_t at = Next(gap); entries_[at].number != kNone; at = Next(at)) {
      const size_t wanted = PlaceOf(entries_[at].address);
      if (((at - wanted) & (entries_.size() - 1)) < ((at - gap) & (entries_.size() - 1))) continue;
      entries_[gap] = entries_[at];
      gap = at;
    }
    entries_[gap].number = kNone;
    return erased;
  }

  // Calls `visit(address, number)` for each entry, in no particular order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.number != kNone) visit(entry.address, entry.number);
    }
  }

 private:
  static constexpr int kMinBits = 6;
  struct Entry {
    uint64_t address = 0;
    uint32_t number = kNone;
  };

  size_t PlaceOf(uint64_t address) const { return address * 0x9e3779b97f4a7c15 >> (64 - bits_); }
  size_t Next(size_t at) const { return (at + 1) & (entries_.size() - 1); }

  // Returns the place of the address's number, which the caller must set: kNone if it is not in the table yet.
  uint32_t* NumberOf(uint64_t address) {
    if (2 * (size_ + 1) > entries_.size()) Grow();
    size_t at = PlaceOf(address);
    while (entries_[at].number != kNone && entries_[at].address != address) at = Next(at);
    if (entries_[at].number == kNone) {
      ++size_;
      entries_[at].address = address;
    }
    return &entries_[at].number;
  }

  void Grow() {
    const std::vector<Entry> old = std::move(entries_);
    ++bits_;
    entries_.assign(size_t{1} << bits_, {});
    size_ = 0;
    for (const Entry& entry : old) {
      if (entry.number != kNone) Set(entry.address, entry.number);
    }
  }

  int bits_ = kMinBits;
  std::vector<Entry> entries_ = std::vector<Entry>(size_t{1} << kMinBits);
  size_t size_ = 0;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ADDRESS_TABLE_H_
