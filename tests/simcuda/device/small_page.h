// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_SMALL_PAGE_H_
#define TESTS_SIMCUDA_DEVICE_SMALL_PAGE_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack::simcuda {

constexpr size_t kPageBytes = size_t{2} << 20;
constexpr size_t kUnitBytes = 512;

// A page of device memory that small allocations share. Allocates units of 512 bytes by first fit, with one bit for
// each. Not thread-safe.
class SmallPage {
 public:
  static constexpr unsigned kUnits = kPageBytes / kUnitBytes;

  static unsigned UnitsOf(size_t bytes) { return static_cast<unsigned>((bytes + kUnitBytes - 1) / kUnitBytes); }

  // Allocates `bytes` (1 to the whole page) and returns the first unit. Returns -1 if no free run is long enough;
  // longest_bound() is exact then.
  int Take(size_t bytes);

  // Frees the allocation that starts at `unit`. Returns false if none does.
  bool Give(unsigned unit);

  // Returns the first unit of the allocation that contains `unit`, or -1.
  int StartOf(unsigned unit) const;

  // Returns the requested bytes of the allocation that starts at `unit`, or 0 if none does.
  size_t BytesAt(unsigned unit) const { return bytes_[unit]; }

  // Returns an upper bound of the longest run of free units.
  unsigned longest_bound() const { return longest_bound_; }

  bool empty() const { return live_ == 0; }
  unsigned live() const { return live_; }

  // Frees all allocations.
  void Clear();

 private:
  static constexpr unsigned kWords = kUnits / 64;

  bool IsUsed(unsigned unit) const { return (used_[unit / 64] >> (unit % 64)) & 1; }
  void Mark(unsigned unit, unsigned units, bool used);

  uint64_t used_[kWords] = {};
  uint32_t bytes_[kUnits] = {};
  unsigned longest_bound_ = kUnits;
  unsigned first_word_ = 0;  // no unit before this word is free
  unsigned live_ = 0;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_SMALL_PAGE_H_
