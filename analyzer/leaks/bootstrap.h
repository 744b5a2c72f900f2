// SPDX-License-Identifier: Apache-2.0
//
// How sure an estimate is, without assuming how its values are distributed.
#ifndef ANALYZER_LEAKS_BOOTSTRAP_H_
#define ANALYZER_LEAKS_BOOTSTRAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

struct Interval {
  double low = 0, high = 0;
};

// The draws of the circular block bootstrap: blocks of neighbours, so that values that depend on their neighbours do
// not look more certain than they are. The draws have a fixed seed: equal input gives equal output.
class BlockDraws {
 public:
  static constexpr size_t kResamples = 999;

  // Of `values` values, at least one, in blocks of `block` neighbours, at least one.
  BlockDraws(size_t values, uint32_t block);

  size_t length() const { return length_; }  // of a block
  size_t blocks() const { return blocks_; }  // of a resample
  // Where the blocks of the next resample begin. A block that reaches the end goes on at the first value.
  const std::vector<size_t>& Next();
  // One more draw: a number below `bound`.
  size_t Below(size_t bound);
  // By how much the spread of resampled estimates is to be widened. Resampling m blocks shows the spread of m values
  // about their own mean, which is too small by (m - 1) / m, and its normal quantiles ignore that the spread is itself
  // an estimate (Student's t, to second order).
  double widening() const;

 private:
  size_t values_, length_, blocks_;
  uint64_t state_ = 0x76726D74;
  std::vector<size_t> begins_;
};

// The values that cut off 2.5 % of kResamples values on either side. Reorders them.
Interval MiddleOf(std::vector<double>* resampled);

// The 95 % interval of the mean of `values` by the circular block bootstrap in blocks of `block` neighbours (at least
// 1). Values that are all equal give an interval of width zero.
Interval BootstrapMean(const std::vector<double>& values, uint32_t block);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_BOOTSTRAP_H_
