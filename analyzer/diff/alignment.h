// SPDX-License-Identifier: Apache-2.0
//
// How alike two stacks are whose frames are not the same: frames are aligned in their order, and rare ones say more
// than those that all stacks go through (TraceSim's weights; FaST showed that a greedy alignment is as good as the
// optimal one, MSR 2022; stacks are short, so this one is optimal).
#ifndef ANALYZER_DIFF_ALIGNMENT_H_
#define ANALYZER_DIFF_ALIGNMENT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

// Thread-compatible.
class FrameWeights {
 public:
  // The stacks of both runs, as numbers of names below `names`.
  FrameWeights(const std::vector<const std::vector<uint32_t>*>& base,
               const std::vector<const std::vector<uint32_t>*>& next, size_t names);

  // Inverse document frequency. A name that only one run has is no rarer than the others on average: that it is new is
  // what the edit did, not what the stack is about.
  double Of(uint32_t name) const { return weights_[name]; }

  // 0 to 1: the weight of the frames that align, of the weight of all frames of both.
  double Similarity(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) const;

 private:
  std::vector<double> weights_;
};

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_ALIGNMENT_H_
