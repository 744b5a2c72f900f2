// SPDX-License-Identifier: Apache-2.0
//
// The order in which leaked objects are allocated within a step, and in which they are freed when the job ends: objects
// of one owner are freed together.
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_ORDER_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ledger/site_order.h"

namespace vramtrack {

// What SiteOrder knows about the groups of a process' sites that leak. Groups are indices into
// ProcessAnalysis::groups(); of one that does not leak nothing is known. Thread-compatible.
class LeakOrder {
 public:
  explicit LeakOrder(const ProcessAnalysis& analysis);

  // Returns whether `a` allocates later than `b` in the job's loop. The loop need not begin where a step does: an input
  // that is loaded after the optimizer's call is the next step's. So the first and the last allocation of both in the
  // run decide if they agree. Otherwise the last step decides in which both left survivors; if a step ends between the
  // two, one of them may be one step later.
  bool BornLater(size_t a, size_t b) const;

  // Returns how many objects older than a step were freed after the last complete step.
  size_t ReleasedAtEnd(size_t group) const { return groups_[group].released.size(); }
  // Returns whether anything was freed after the last allocation, as a job does that cleans up at its end.
  bool CleanedUp() const { return cleaned_up_; }

  enum class Release {
    kUnknown,   // too few objects of one of them were freed, or the order is not clear
    kTogether,  // alternately, as by an owner of both for each step
    kApart,     // one group after the other, as by two owners
  };
  // Returns how the objects of both groups were freed at the end.
  Release ReleaseOf(size_t a, size_t b) const;

 private:
  struct Group {
    std::vector<SiteOrder::Birth> births;      // the last one in each of a few steps, ascending
    std::vector<uint64_t> released;            // events, ascending
    uint64_t first_birth = 0, last_birth = 0;  // events, in any step; 0: none
  };

  std::vector<Group> groups_;
  bool cleaned_up_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_ORDER_H_
