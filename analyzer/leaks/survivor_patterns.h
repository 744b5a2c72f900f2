// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEAKS_SURVIVOR_PATTERNS_H_
#define ANALYZER_LEAKS_SURVIVOR_PATTERNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/leaks/prior.h"
#include "analyzer/leaks/survivor_bins.h"

namespace vramtrack {

// The unevenness of the rhythms that are tried: the share by which gaps vary about their mean.
constexpr double kUneven[] = {0.15, 0.35};

// How likely survivors are if they repeat themselves: one step in so many, any sequence, or a rhythm.
class SurvivorPatterns {
 public:
  // Both must outlive it.
  SurvivorPatterns(const SurvivorBins& bins, const Prior& prior);

  // Returns the log likelihood of the bins [begin, end) if they follow any pattern.
  double Log(size_t begin, size_t end) const;

  struct Rhythm {
    double log_prior = 0;
    std::vector<uint32_t> hits, misses;  // before each edge
    std::vector<double> log_widths;      // of the gaps of all hits
  };
  // Returns the rhythm of the same number of objects at gaps that are uniform about their mean, on a clock that runs as
  // `shape` says: for a cache ever more slowly. A gap that is too long or too short is a miss. Empty if there are too
  // few gaps.
  Rhythm RhythmOf(const std::vector<double>& shape, double uneven) const;
  double AtRhythm(const Rhythm& rhythm, size_t begin, size_t end) const;

 private:
  struct Pattern {
    double log_prior = 0;
    std::vector<uint32_t> misses;
  };
  void AddPeriods();
  void AddSequences();
  // `expected(t)`: the number of objects of a step.
  template <typename Expected>
  void AddPattern(double log_prior, Expected expected);
  double LogHits(uint32_t all, uint32_t miss) const;

  const SurvivorBins& bins_;
  const Prior& prior_;
  std::vector<Step> at_;  // the steps that have objects
  uint32_t usual_ = 0;    // the number of objects that most of them have
  std::vector<Pattern> patterns_;
  std::vector<Rhythm> rhythms_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SURVIVOR_PATTERNS_H_
