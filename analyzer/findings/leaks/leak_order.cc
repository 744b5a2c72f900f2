// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/leak_order.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace vramtrack {
namespace {

// Fewer objects in a row show no order.
constexpr size_t kMinReleased = 5;
// One owner after the other changes once; a few stray objects are allowed for.
constexpr size_t kObjectsPerStray = 10;

}  // namespace

LeakOrder::LeakOrder(const ProcessAnalysis& analysis)
    : groups_(analysis.groups().size()), cleaned_up_(analysis.order().CleanedUp()) {
  std::map<SiteIndex, size_t> group_of;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const std::vector<SiteIndex>& sites = analysis.groups()[i].sites;
    if (!IsLeak(analysis.verdicts()[sites[0]].verdict)) continue;
    Group& group = groups_[i];
    std::map<uint32_t, uint64_t> births;  // by step
    SurvivorSeries survivors;
    for (const SiteIndex site : sites) {
      group_of[site] = i;
      const SiteOrder::SiteBirths of = analysis.order().BirthsOf(site);
      if (of.first == 0) continue;
      if (group.first_birth == 0 || of.first < group.first_birth) group.first_birth = of.first;
      group.last_birth = std::max(group.last_birth, of.last);
      for (const SiteOrder::Birth& birth : of.latest) {
        if (birth.event != 0) births[birth.step] = std::max(births[birth.step], birth.event);
      }
      survivors =
          SumOf(survivors, SurvivorsIn(analysis.histories().history(site), analysis.verdicts()[sites[0]].tested));
    }
    // The steps that left something; if none of them is among the latest steps, any of those.
    for (const Survivors& at : survivors) {
      const auto found = births.find(at.step);
      if (found != births.end()) group.births.push_back({at.step, found->second});
    }
    if (!group.births.empty()) continue;
    for (const auto& [step, event] : births) group.births.push_back({step, event});
  }
  for (const SiteOrder::Release& release : analysis.order().released()) {
    if (const auto group = group_of.find(release.site); group != group_of.end()) {
      groups_[group->second].released.push_back(release.event);
    }
  }
}

bool LeakOrder::BornLater(size_t a, size_t b) const {
  const Group& left = groups_[a];
  const Group& right = groups_[b];
  const bool begins_later = left.first_birth > right.first_birth, ends_later = left.last_birth > right.last_birth;
  if (begins_later == ends_later) return begins_later;
  for (const int64_t late : {0, 1, -1}) {
    for (size_t i = left.births.size(); i-- > 0;) {
      for (size_t j = right.births.size(); j-- > 0;) {
        if (int64_t{left.births[i].step} + late == right.births[j].step) {
          return left.births[i].event > right.births[j].event;
        }
      }
    }
  }
  return false;
}

LeakOrder::Release LeakOrder::ReleaseOf(size_t a, size_t b) const {
  const std::vector<uint64_t>& left = groups_[a].released;
  const std::vector<uint64_t>& right = groups_[b].released;
  const size_t fewer = std::min(left.size(), right.size());
  if (fewer < kMinReleased) return Release::kUnknown;
  // How often one follows the other.
  size_t changes = 0, i = 0, j = 0;
  int previous = -1;
  while (i < left.size() || j < right.size()) {
    const int next = j == right.size() || (i < left.size() && left[i] < right[j]) ? 0 : 1;
    ++(next == 0 ? i : j);
    changes += previous >= 0 && previous != next;
    previous = next;
  }
  if (changes <= 1 + fewer / kObjectsPerStray) return Release::kApart;
  return changes >= fewer ? Release::kTogether : Release::kUnknown;
}

}  // namespace vramtrack
