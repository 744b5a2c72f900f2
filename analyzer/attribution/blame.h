// SPDX-License-Identifier: Apache-2.0
//
// Chooses the frame of a leak's stack that the user should look at.
//
// In native programs, the innermost frame is often a wrapper for all allocations. The frame to blame is the first one
// that only the leak goes through. In Python, it is the innermost line of the user's own code, because the user can
// change that line. A clean site may go through it as well, for example in an evaluation during the training. A line
// is skipped as a wrapper only if clean sites call it from many other lines of the user's own code.
#ifndef ANALYZER_ATTRIBUTION_BLAME_H_
#define ANALYZER_ATTRIBUTION_BLAME_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Returns whether two frames are in the same function.
bool SameFunction(const ReportFrame& a, const ReportFrame& b);

// Returns whether two frames are the same place in the source.
bool SamePlace(const ReportFrame& a, const ReportFrame& b);

// Compares the stacks of leaks with those of clean sites, from the inner end. Thread-compatible.
class BlameFinder {
 public:
  BlameFinder();
  ~BlameFinder();

  // Adds the stack of a leak, innermost frame first. All leaks must be added before the first clean site.
  void AddLeak(const std::vector<ReportFrame>& frames);

  // Adds the stack of a clean site. Each call of `next` returns the frames of one more return address, innermost first,
  // and nothing at the end of the stack. `next` is called only as long as the result can matter.
  void AddClean(const std::function<std::vector<ReportFrame>()>& next);

  // Returns the index of the frame to blame. If the stack has Python lines of the user's own, that is the innermost one
  // which is not a wrapper. Otherwise it is the innermost frame that no clean stack shares, or frame 0 if there is
  // none. A clean stack that goes through the same places as a whole leak does not count, and within a function that
  // calls itself the innermost call counts. From there, the search goes outwards to the nearest frame outside installed
  // libraries, if there is one.
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
