// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/address_ranges.h"

#include <algorithm>
#include <tuple>

namespace vramtrack {

void AddressRanges::Add(uint64_t begin, uint64_t end, uint64_t value) {
  if (begin < end) ranges_.push_back({begin, end, value, end});
}

void AddressRanges::Sort() {
  // Of equal beginnings the search, which runs backwards, shall meet the shorter range first, then the first value.
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tie(a.begin, b.end, b.value) < std::tie(b.begin, a.end, a.value);
  });
  uint64_t reach = 0;
  for (Range& range : ranges_) range.reach = reach = std::max(reach, range.end);
  ranges_.shrink_to_fit();
}

std::optional<uint64_t> AddressRanges::Find(uint64_t address) const {
  auto it = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                             [](uint64_t value, const Range& range) { return value < range.begin; });
  // Damaged files can nest ranges without end; whole ones are found at the first steps.
  constexpr int kMaxSteps = 1000;
  for (int step = 0; it != ranges_.begin() && step < kMaxSteps; ++step) {
    --it;
    if (it->reach <= address) return std::nullopt;
    if (it->end > address) return it->value;
  }
  return std::nullopt;
}

}  // namespace vramtrack
