// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_TIME_BINS_H_
#define INTERPOSE_RECORDER_TIME_BINS_H_

#include <cstdint>

namespace vramtrack {

// Divides time into at most `max_bins_` bins of equal width. The caller doubles the width (Widen) when a time is beyond
// the last bin. Plain data; call Start first.
class TimeBins {
 public:
  static constexpr uint32_t kMaxBins = 256, kMinBins = 8;

  void Start(uint64_t ticks) {
    start_ = ticks;
    shift_ = kFirstShift;
    max_bins_ = kMaxBins;
  }
  bool started() const { return max_bins_ != 0; }

  // Returns whether `ticks` is beyond the last bin; if so, call Widen until it is not.
  bool Beyond(uint64_t ticks) const { return ticks > start_ && (ticks - start_) >> shift_ >= max_bins_; }
  // Doubles the width: two bins become one.
  void Widen() { ++shift_; }
  // Halves the maximum number of bins; call Widen afterwards.
  void Halve() { max_bins_ /= 2; }
  bool can_halve() const { return max_bins_ > kMinBins; }

  uint32_t BinOf(uint64_t ticks) const {
    return ticks > start_ ? static_cast<uint32_t>((ticks - start_) >> shift_) : 0;
  }

  uint64_t start() const { return start_; }
  uint32_t shift() const { return shift_; }

 private:
  static constexpr uint32_t kFirstShift = 20;  // a bin of less than a millisecond

  uint64_t start_;
  uint32_t shift_, max_bins_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_TIME_BINS_H_
