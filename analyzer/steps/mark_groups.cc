// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/mark_groups.h"

#include <algorithm>

namespace vramtrack {
namespace {

// A group that is this much rarer than the most frequent one marks something else: an epoch, a meta step.
constexpr uint64_t kMostCallsAStep = 16;

// An interleaved group counts as being there throughout if it covers most of the time.
constexpr uint64_t kMostOfTime = 2;

uint64_t Duration(const MarkGroup& group) { return group.last_time - group.first_time; }

}  // namespace

std::vector<size_t> SelectGroups(const std::vector<MarkGroup>& groups) {
  std::vector<size_t> order;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].count > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return groups[a].first_time != groups[b].first_time ? groups[a].first_time < groups[b].first_time : a < b;
  });
  std::vector<size_t> selected;
  for (size_t begin = 0; begin < order.size();) {
    // A phase: groups that overlap in time, directly or through others.
    size_t end = begin;
    uint64_t last = 0, most = 0;
    const uint64_t first = groups[order[begin]].first_time;
    while (end < order.size() && (end == begin || groups[order[end]].first_time < last)) {
      last = std::max(last, groups[order[end]].last_time);
      most = std::max(most, groups[order[end]].count);
      ++end;
    }
    size_t best = end;
    for (size_t i = begin; i < end; ++i) {
      const MarkGroup& group = groups[order[i]];
      const bool throughout = Duration(group) * kMostOfTime >= last - first;
      const bool frequent = group.count * kMostCallsAStep >= most && group.count >= std::min(most, kMinMarks);
      if (!frequent || (!throughout && group.count != most)) continue;
      if (best == end || group.count < groups[order[best]].count) best = i;
    }
    if (best != end) selected.push_back(order[best]);
    begin = end;
  }
  std::sort(selected.begin(), selected.end());
  return selected;
}

}  // namespace vramtrack
