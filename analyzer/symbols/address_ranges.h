// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_ADDRESS_RANGES_H_
#define ANALYZER_SYMBOLS_ADDRESS_RANGES_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace vramtrack {

// Maps ranges of addresses to values. Ranges are half-open and should not overlap. Thread-compatible.
class AddressRanges {
 public:
  void Add(uint64_t begin, uint64_t end, uint64_t value);
  // Must be called after the last Add() and before the first Find().
  void Sort();
  // Returns the value of the range that contains `address`. If ranges overlap, the one that begins last counts.
  std::optional<uint64_t> Find(uint64_t address) const;

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
    uint64_t value;
    // The highest end of this and all previous ranges.
    uint64_t reach;
  };
  std::vector<Range> ranges_;
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_ADDRESS_RANGES_H_
