// SPDX-License-Identifier: Apache-2.0
//
// Finds the period of a job that does not mark its steps, from the order of its allocations alone.
//
// Comparing the stream with itself at a fixed distance fails as soon as one step allocates one block more than another.
// Single sites are more robust: what a step does once recurs at regular gaps, whatever happens in between. Sites that
// recur equally often are a family. The family with the most occurrences is the innermost loop that spans the whole
// step; those with fewer occurrences are the loops around it. Some programs have as few as three sites in a step. If no
// other family is found, a family that makes up most of the stream is therefore a loop even with few sites, and so is a
// single site whose gaps are all alike: a loop around it.
#ifndef ANALYZER_STEPS_REGULAR_GAPS_H_
#define ANALYZER_STEPS_REGULAR_GAPS_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace vramtrack {

// Records how far apart the occurrences of a site are, in a histogram. The width of a bin is at most a sixteenth of its
// value, which is precise enough for thresholds of 15 % and 35 %. Each bin keeps the sum of its gaps, so equal gaps are
// known exactly. Memory: 16 bytes for each bin in use, at most 976 bins; a regular site uses one or two.
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

// Sites that occur equally often at regular gaps.
struct GapFamily {
  uint64_t occurrences = 0;
  double period_events = 0;
  double deviation = 0;         // mean distance of the logarithms of its sites' gaps from those of their medians
  std::vector<uint32_t> sites;  // ascending
  uint32_t anchor = 0;          // the site that begins a step: the one with the least live memory
  double live_bytes = 0;        // mean live bytes of the device where a step begins
};

// A loop around the steps.
struct OuterLoop {
  uint64_t inner = 0;  // steps in each
  uint64_t occurrences = 0;
};

// Returns the certain loops around `steps`, the shortest first. `families`: the result of RegularGaps::Families(). In a
// certain loop, every iteration contains the same whole number of steps.
std::vector<OuterLoop> LoopsAround(const GapFamily& steps, const std::vector<GapFamily>& families);

// Finds families of sites. It must get every allocation of a stream, in order of time. Memory: a few words and a gap
// histogram for each site, for any length of the stream. Not thread-safe.
class RegularGaps {
 public:
  // Adds an allocation. `site`: a dense index. `live_bytes`: the device's live bytes, or 0 if unknown.
  void OnEvent(uint32_t site, uint64_t live_bytes = 0);

  // Returns the families by occurrences, most first: the innermost loop is the first. Empty if the stream has no
  // period.
  std::vector<GapFamily> Families() const;

  // Returns the family whose occurrences are the steps; null if there is none. The result points into `families`. It is
  // the innermost loop, unless another family has more even gaps and occurs nearly as often, too often for a loop
  // around it. In that case the passes of an evaluation also use sites of the step, and the other family is only in the
  // step. If a loop of enough steps contains two or three of these each time, and begins with less live memory than
  // they do, it is the step: its parts, such as equal layers, hand something on to each other.
  static const GapFamily* StepsOf(const std::vector<GapFamily>& families);

 private:
  struct Site {
    uint64_t count = 0, first = 0, last = 0;  // positions in the stream
    double live_bytes = 0;                    // sum over occurrences
    GapHistogram gaps;

    double MeanLiveBytes() const { return live_bytes / static_cast<double>(count); }
  };

  static const GapFamily* AroundFew(const GapFamily* steps, const std::vector<GapFamily>& families);

  bool IsSpread(const Site& site) const;   // the site is spread evenly over the stream, on average
  bool IsRegular(const Site& site) const;  // it is spread evenly and its gaps are similar
  // Returns a family of few sites that makes up most of a stream without other families.
  std::optional<GapFamily> TightLoop() const;
  GapFamily Describe(std::vector<uint32_t> sites) const;

  std::vector<Site> sites_;
  uint64_t events_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_REGULAR_GAPS_H_
