// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CUPTI_ACTIVITY_CLOCK_H_
#define ANALYZER_CUPTI_ACTIVITY_CLOCK_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace vramtrack {

// CUPTI's nanoseconds as ticks of the trace: by the moments at which both clocks were read, and between two of them by
// a straight line, so that a drift of one against the other does not add up.
class ActivityClock {
 public:
  // Ties in any order; `ticks_per_second` before the first and after the last.
  void Add(uint64_t cupti_ns, uint64_t ticks);
  void Freeze(double ticks_per_second);

  // 0 without a tie.
  uint64_t Ticks(uint64_t cupti_ns) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ties_;  // by ns
  double ticks_per_ns_ = 1;
};

}  // namespace vramtrack

#endif  // ANALYZER_CUPTI_ACTIVITY_CLOCK_H_
