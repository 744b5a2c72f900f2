// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/small_page.h"

#include <algorithm>
#include <cstring>

namespace vramtrack::simcuda {

int SmallPage::Take(size_t bytes) {
  const unsigned units = UnitsOf(bytes);
  unsigned start = 0, run = 0, longest = 0;
  bool seen_free = false;
  for (unsigned word_index = first_word_; word_index < kWords; ++word_index) {
    const uint64_t word = used_[word_index];
    if (word == ~uint64_t{0}) {
      run = 0;
      continue;
    }
    if (!seen_free) {
      first_word_ = word_index;
      seen_free = true;
    }
    unsigned bit = 0;
    while (bit < 64) {
      const uint64_t rest = word >> bit;
      const unsigned free = rest == 0 ? 64 - bit : static_cast<unsigned>(__builtin_ctzll(rest));
      if (free != 0) {
        if (run == 0) start = word_index * 64 + bit;
        run += free;
        longest = std::max(longest, run);
        if (run >= units) {
          Mark(start, units, true);
          bytes_[start] = static_cast<uint32_t>(bytes);
          ++live_;
          return static_cast<int>(start);
        }
        bit += free;
      }
      if (bit < 64) {
        bit += static_cast<unsigned>(__builtin_ctzll(~(word >> bit)));
        run = 0;
      }
    }
  }
  if (!seen_free) first_word_ = kWords;
  longest_bound_ = longest;
  return -1;
}

bool SmallPage::Give(unsigned unit) {
  if (bytes_[unit] == 0) return false;
  const unsigned units = UnitsOf(bytes_[unit]);
  Mark(unit, units, false);
  bytes_[unit] = 0;
  --live_;
  first_word_ = std::min(first_word_, unit / 64);
  if (live_ == 0) {
    longest_bound_ = kUnits;
    return true;
  }
  if (longest_bound_ == kUnits) return true;
  // The run that now surrounds the freed units may be the new longest.
  unsigned begin = unit, end = unit + units;
  while (begin > 0 && !IsUsed(begin - 1)) {
    begin = begin % 64 == 0 && used_[begin / 64 - 1] == 0 ? begin - 64 : begin - 1;
  }
  while (end < kUnits && !IsUsed(end)) {
    end = end % 64 == 0 && used_[end / 64] == 0 ? end + 64 : end + 1;
  }
  longest_bound_ = std::max(longest_bound_, end - begin);
  return true;
}

int SmallPage::StartOf(unsigned unit) const {
  for (unsigned start = unit;; --start) {
    if (bytes_[start] != 0) return start + UnitsOf(bytes_[start]) > unit ? static_cast<int>(start) : -1;
    if (start == 0) return -1;
  }
}

void SmallPage::Clear() {
  memset(used_, 0, sizeof(used_));
  memset(bytes_, 0, sizeof(bytes_));
  longest_bound_ = kUnits;
  first_word_ = 0;
  live_ = 0;
}

void SmallPage::Mark(unsigned unit, unsigned units, bool used) {
  while (units != 0) {
    const unsigned bit = unit % 64;
    const unsigned count = std::min(units, 64 - bit);
    const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bit;
    if (used) {
      used_[unit / 64] |= mask;
    } else {
      used_[unit / 64] &= ~mask;
    }
    unit += count;
    units -= count;
  }
}

}  // namespace vramtrack::simcuda
