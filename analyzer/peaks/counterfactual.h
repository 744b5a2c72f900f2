// SPDX-License-Identifier: Apache-2.0
//
// How high the peak would have been without one site's allocations: what fixing that site is worth. "8 GiB live at the
// peak" says less: another peak may be nearly as high.
#ifndef ANALYZER_PEAKS_COUNTERFACTUAL_H_
#define ANALYZER_PEAKS_COUNTERFACTUAL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

// Watches groups of sites during a replay; the sites of a group count to the same total. Exact. An event costs a
// comparison, unless it brings a new record for one of the groups. Thread-compatible.
class Counterfactual {
 public:
  // `groups`: each a few site indices; no site is in two of them.
  explicit Counterfactual(const std::vector<std::vector<uint32_t>>& groups);

  bool watching() const { return !groups_.empty(); }

  // `live`: the scope's total, after the allocation.
  void OnAllocate(uint32_t site, uint32_t scope, uint64_t bytes, uint64_t live);
  void OnFree(uint32_t site, uint32_t scope, uint64_t bytes);

  // The peak of the group's scope if the group had allocated nothing.
  uint64_t PeakWithout(size_t group) const { return groups_[group].peak; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Group {
    uint64_t live = 0;
    uint64_t peak = 0;    // of its scope without it
    bool joined = false;  // its scope is known from its first allocation on
  };
  struct Scope {
    uint64_t peak = 0;             // with all sites
    std::vector<uint32_t> groups;  // those that joined
    // No total up to this one is a record for any of them. May be lower than it need be, never higher.
    uint64_t threshold = 0;
  };

  uint32_t GroupOf(uint32_t site) const { return site < group_of_.size() ? group_of_[site] : kNone; }

  std::vector<uint32_t> group_of_;  // by site
  std::vector<Group> groups_;
  std::vector<Scope> scopes_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_COUNTERFACTUAL_H_
