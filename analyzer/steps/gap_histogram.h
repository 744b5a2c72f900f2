// SPDX-License-Identifier: Apache-2.0
//
// How far apart the occurrences of a site are, in bounded memory.
#ifndef ANALYZER_STEPS_GAP_HISTOGRAM_H_
#define ANALYZER_STEPS_GAP_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace vramtrack {

// Gaps in bins that are at most a sixteenth of their value wide, fine enough for thresholds of 15 % and 35 %. Each bin
// keeps its sum, so gaps that are all equal are known exactly. Memory: 16 bytes a bin in use, 976 bins at most; a
// regular site uses one or two.
class GapHistogram {
 public:
  void Add(uint64_t gap);

  uint64_t count() const { return count_; }
  double Median() const;

  // The quantile (0 to 1) of the distance from `centre`, relative to it.
  double DeviationQuantile(double centre, double quantile) const;

  // The mean distance of a gap's logarithm from that of `centre`, which is above 0: half of it and twice it are equally
  // far away.
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
