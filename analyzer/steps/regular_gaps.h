// SPDX-License-Identifier: Apache-2.0
//
// Finds the period of a job that does not mark its steps, from the order of its allocations alone.
//
// Comparing the stream with itself at a fixed distance breaks as soon as one step allocates one block more than
// another. Single sites are steadier: what a step does once comes back at regular gaps, whatever happens in between.
// Sites that do so equally often are a family, and the largest family count is the innermost loop that spans the whole
// step; the next smaller ones are the loops around it.
#ifndef ANALYZER_STEPS_REGULAR_GAPS_H_
#define ANALYZER_STEPS_REGULAR_GAPS_H_

#include <cstdint>
#include <vector>

#include "analyzer/steps/gap_histogram.h"

namespace vramtrack {

// Sites that occur equally often at regular gaps.
struct GapFamily {
  uint64_t occurrences = 0;
  double period_events = 0;
  std::vector<uint32_t> sites;  // ascending
  uint32_t anchor = 0;          // the one to cut at: where the least memory is live, between two steps
};

// Fed with every allocation of a stream, in order of time. Memory: a few words and the gap histogram for each site,
// whatever the length of the stream. Not thread-safe.
class RegularGaps {
 public:
  // `site`: a dense index. `live_bytes`: of the device, or 0 if not known.
  void OnEvent(uint32_t site, uint64_t live_bytes = 0);

  // Most occurrences, that is the innermost loop, first. Empty: the stream has no period.
  std::vector<GapFamily> Families() const;

 private:
  struct Site {
    uint64_t count = 0, first = 0, last = 0;  // positions in the stream
    double live_bytes = 0;                    // sum over occurrences
    GapHistogram gaps;
  };

  bool IsRegular(const Site& site) const;

  std::vector<Site> sites_;
  uint64_t events_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_REGULAR_GAPS_H_
