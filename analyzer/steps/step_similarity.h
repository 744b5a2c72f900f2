// SPDX-License-Identifier: Apache-2.0
//
// Measures how similar the steps of a run are, by the sites that allocate in them.
#ifndef ANALYZER_STEPS_STEP_SIMILARITY_H_
#define ANALYZER_STEPS_STEP_SIMILARITY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

// Compares the multiset of sites of each step with those of the two steps before it, and keeps the higher of the two
// Jaccard similarities (shared occurrences divided by all occurrences). One step with an evaluation or a checkpoint
// thus counts as one unusual step, not as two. Memory: three counters for each site and a number for each step. Not
// thread-safe.
class StepSimilarity {
 public:
  // Adds an allocation of `site`, a dense index.
  void OnEvent(uint32_t site);
  void OnStepEnd();
  // Ends a step whose allocations are unknown. It counts as similar to the others.
  void OnUnknownStepEnd();

  // Returns one similarity for each ended step, 0 to 1; that of the first step is 0.
  const std::vector<float>& similarities() const { return similarities_; }

 private:
  struct Multiset {
    std::vector<uint32_t> counts;  // by site
    std::vector<uint32_t> sites;   // sites with a count
    uint64_t total = 0;

    void Clear();
    uint32_t CountOf(uint32_t site) const { return site < counts.size() ? counts[site] : 0; }
  };
  static double Jaccard(const Multiset& a, const Multiset& b);

  std::array<Multiset, 3> recent_;
  size_t current_ = 0;
  std::vector<float> similarities_;
};

// Returns the share of steps that are alike. Leaves out the first two, which have nothing to be compared with.
double ShareOfMatchingSteps(const std::vector<float>& similarities);

// Returns the first step from which on five steps in a row allocate alike. Warm-up lasts at least until then
// (WarmupEnd() in analyzer/leaks/windows.h). Returns 0 if there is none within the first quarter of the run: such a job
// changes its steps all the time, and a longer warm-up would only leave fewer steps for the test.
uint32_t StructureSettled(const std::vector<float>& similarities);

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_STEP_SIMILARITY_H_
