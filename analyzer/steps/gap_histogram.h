// SPDX-License-Identifier: Apache-2.0
//
// Records how far apart the occurrences of a site are, in bounded memory.
#ifndef ANALYZER_STEPS_GAP_HISTOGRAM_H_
#define ANALYZER_STEPS_GAP_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace vramtrack {

// A histogram of gaps. The width of a bin is at most a sixteenth of its value, which is precise enough for thresholds
// of 15 % and 35 %. Each bin keeps the sum of its gaps, so equal gaps are known exactly. Memory: 16 bytes for each bin
// in use, at most 976 bins; a regular site uses one or two.
class GapHistogram {
 public:
  void Add(uint64_t gap);

  uint64_t count() const { return count_; }
  double Median() const;

  // Returns the quantile (0 to 1) of the gaps' distance from `centre`, relative to `centre`.
  double DeviationQuantile(double centre, double quantile) const;

  // Returns the mean distance of a gap's logarithm from that of `centre`, which must be above 0. Half and twice
  // `centre` are thus equally far away.
  double MeanLogDeviation(double centre) const;

 private:
  struct Bin {
    uint32_t index = 0;
    uint32_t count = 0;
    uint64_t sum = 0;

    double Mean() const { return static_cast<double>(sum) / count; }
  };

  std::vector<Bin> bins_;  // by index
  uint64_t count_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_GAP_HISTOGRAM_H_
