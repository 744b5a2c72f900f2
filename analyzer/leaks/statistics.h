// SPDX-License-Identifier: Apache-2.0
//
// Confidence intervals of estimates that make no assumption about the distribution of the values, and corrections for
// testing thousands of sites at once: some look like leaks by chance.
#ifndef ANALYZER_LEAKS_STATISTICS_H_
#define ANALYZER_LEAKS_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

struct Interval {
  double low = 0, high = 0;
};

// The draws of the circular block bootstrap. It draws blocks of neighbours, so that dependent neighbours do not make an
// estimate look more certain than it is. The seed is fixed: equal input gives equal output.
class BlockDraws {
 public:
  static constexpr size_t kResamples = 999;

  // Draws from `values` values (at least 1) in blocks of `block` neighbours (at least 1).
  BlockDraws(size_t values, uint32_t block);

  size_t length() const { return length_; }  // values in a block
  size_t blocks() const { return blocks_; }  // blocks in a resample
  // Returns the indices at which the blocks of the next resample begin; valid until the next call. A block that reaches
  // the end continues at the first value.
  const std::vector<size_t>& Next();
  // Draws a number below `bound`.
  size_t Below(size_t bound);
  // Returns the factor by which the spread of resampled estimates must be widened. Resampling m blocks measures the
  // spread of m values about their own mean, whose variance is too small by (m - 1) / m. Its normal quantiles also
  // ignore that the spread is itself an estimate (Student's t, to second order).
  double widening() const;

 private:
  size_t values_, length_, blocks_;
  uint64_t state_ = 0x76726D74;
  std::vector<size_t> begins_;
};

// Returns the values that cut off 2.5 % of kResamples values on either side. Reorders `*resampled`.
Interval MiddleOf(std::vector<double>* resampled);

// Returns the 95 % interval of the mean of `values`, by the circular block bootstrap in blocks of `block` neighbours
// (at least 1). The interval of equal values has width zero.
Interval BootstrapMean(const std::vector<double>& values, uint32_t block);

constexpr double kFalseDiscoveryRate = 0.01;

// Returns which hypotheses to reject so that on average at most the share `false_discovery_rate` of the rejected ones
// is true (the Benjamini-Hochberg procedure). The result has the order of `p_values`.
std::vector<bool> BenjaminiHochberg(const std::vector<double>& p_values,
                                    double false_discovery_rate = kFalseDiscoveryRate);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_STATISTICS_H_
