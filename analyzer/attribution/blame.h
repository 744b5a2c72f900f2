// SPDX-License-Identifier: Apache-2.0
//
// Which frame of a leak's stack to look at.
//
// In native programs the innermost frame is often a wrapper that all allocations go through; the first frame that only
// the leak goes through is the one to blame. Of Python it is the innermost line of the user's own code: that line is
// there to be changed, and that a clean site goes through it as well, in an evaluation next to the training, says
// nothing against it. Only what many other lines of the user's own call for memory, and never leak, is a wrapper there.
#ifndef ANALYZER_ATTRIBUTION_BLAME_H_
#define ANALYZER_ATTRIBUTION_BLAME_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Whether two frames are the same place in the source.
bool SamePlace(const ReportFrame& a, const ReportFrame& b);

// Compares the stacks of leaks with those of clean sites, from the inner end. Thread-compatible.
class BlameFinder {
 public:
  BlameFinder();
  ~BlameFinder();

  // Leaks first. `frames` innermost first.
  void AddLeak(const std::vector<ReportFrame>& frames);

  // Then the clean sites. `next` gives the frames of one more return address each time, innermost first, and nothing at
  // the stack's end; it is asked only as long as the stack is like a leak's.
  void AddClean(const std::function<std::vector<ReportFrame>()>& next);

  // In a stack with the user's own Python, the index of the innermost line of it that is no wrapper. In others of the
  // innermost frame up to which no clean stack is like `frames`, the innermost if every one is shared, or none; from
  // there outwards the nearest that is not of an installed library, where there is one.
  size_t Blame(const std::vector<ReportFrame>& frames) const;

 private:
  // A trie of the leaks' stacks.
  struct Node;

  const Node* Find(const Node& node, const ReportFrame& frame) const;
  size_t InnermostOwn(const std::vector<ReportFrame>& frames, size_t own) const;

  std::unique_ptr<Node> root_;
};

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_BLAME_H_
