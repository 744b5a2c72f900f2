// SPDX-License-Identifier: Apache-2.0
//
// How alike the steps of a run are, by the sites that allocate in them.
#ifndef ANALYZER_STEPS_STEP_SIMILARITY_H_
#define ANALYZER_STEPS_STEP_SIMILARITY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

// Compares the multiset of sites of each step with those of the two steps before it and keeps the better of the two
// similarities (Jaccard: shared occurrences over all occurrences): one step with an evaluation or a checkpoint in it
// then counts as one odd step, not as two. Memory: three counters a site and a number a step. Not thread-safe.
class StepSimilarity {
 public:
  // `site`: a dense index.
  void OnEvent(uint32_t site);
  void OnStepEnd();
  // Ends a step of which it is not known what it allocated; it is taken for one like the others.
  void OnUnknownStepEnd();

  // One for each ended step, 0 to 1; that of the first step is 0.
  const std::vector<float>& similarities() const { return similarities_; }

 private:
  struct Multiset {
    std::vector<uint32_t> counts;  // by site
    std::vector<uint32_t> sites;   // with a count
    uint64_t total = 0;

    void Clear();
    uint32_t CountOf(uint32_t site) const { return site < counts.size() ? counts[site] : 0; }
  };
  static double Jaccard(const Multiset& a, const Multiset& b);

  std::array<Multiset, 3> recent_;
  size_t current_ = 0;
  std::vector<float> similarities_;
};

// The share of steps that are alike, without the first two, which have nothing to be compared with.
double ShareOfMatchingSteps(const std::vector<float>& similarities);

// The first step from which on five steps in a row allocate alike: what warm-up has to wait for (WarmupEnd() in
// analyzer/leaks/windows.h). 0 if that does not happen within the first quarter of the run: such a job changes its
// steps all the time, and waiting longer would only take steps away from the test.
uint32_t StructureSettled(const std::vector<float>& similarities);

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_STEP_SIMILARITY_H_
