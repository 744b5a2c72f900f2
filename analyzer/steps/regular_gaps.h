// SPDX-License-Identifier: Apache-2.0
//
// Finds the period of a job that does not mark its steps, from the order of its allocations alone.
//
// Comparing the stream with itself at a fixed distance breaks as soon as one step allocates one block more than
// another. Single sites are steadier: what a step does once comes back at regular gaps, whatever happens in between.
// Sites that do so equally often are a family, and the largest family count is the innermost loop that spans the whole
// step; the next smaller ones are the loops around it. A program may do so little in a step that three sites are all it
// has: where no family stands out, one that makes up most of the stream by itself is a loop however few its sites are.
#ifndef ANALYZER_STEPS_REGULAR_GAPS_H_
#define ANALYZER_STEPS_REGULAR_GAPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/steps/gap_histogram.h"

namespace vramtrack {

// Sites that occur equally often at regular gaps.
struct GapFamily {
  uint64_t occurrences = 0;
  double period_events = 0;
  double deviation = 0;         // mean distance of its sites' gaps from their medians, of the gaps' logarithms
  std::vector<uint32_t> sites;  // ascending
  uint32_t anchor = 0;          // the one to cut at: where the least memory is live, between two steps
};

// A loop around the steps.
struct OuterLoop {
  uint64_t inner = 0;  // steps in each
  uint64_t occurrences = 0;
};

// Of what RegularGaps::Families() says, the loops around `steps` that are sure: each holds the same whole number of
// them, throughout. The shortest first.
std::vector<OuterLoop> LoopsAround(const GapFamily& steps, const std::vector<GapFamily>& families);

// Fed with every allocation of a stream, in order of time. Memory: a few words and the gap histogram for each site,
// whatever the length of the stream. Not thread-safe.
class RegularGaps {
 public:
  // `site`: a dense index. `live_bytes`: of the device, or 0 if not known.
  void OnEvent(uint32_t site, uint64_t live_bytes = 0);

  // Most occurrences, that is the innermost loop, first. Empty: the stream has no period.
  std::vector<GapFamily> Families() const;

  // The family whose occurrences are the steps; null: there is none. That is the innermost loop, unless another family
  // occurs nearly as often, too often to be a loop around it, and at more even gaps: the passes of an evaluation then
  // run through sites of the step, and others are those of the step alone.
  static const GapFamily* StepsOf(const std::vector<GapFamily>& families);

 private:
  struct Site {
    uint64_t count = 0, first = 0, last = 0;  // positions in the stream
    double live_bytes = 0;                    // sum over occurrences
    GapHistogram gaps;

    double MeanLiveBytes() const { return live_bytes / static_cast<double>(count); }
  };

  bool IsSpread(const Site& site) const;   // evenly over the stream, on average
  bool IsRegular(const Site& site) const;  // and its gaps are alike
  // What there is but a few sites, in a stream without other families.
  std::optional<GapFamily> TightLoop() const;
  GapFamily Describe(std::vector<uint32_t> sites) const;

  std::vector<Site> sites_;
  uint64_t events_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_REGULAR_GAPS_H_
