// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/peaks/peak_collectors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/base/indices.h"

namespace vramtrack {
namespace {

// Sites of one category, some of whose objects live on into a later step.
struct LateGroup {
  uint32_t scope = 0;
  std::vector<SiteIndex> sites;
  size_t watched = 0;
};

constexpr uint32_t kMinSteps = 8;
constexpr double kMostShare = 0.8;

// What saves less is not worth a line.
constexpr uint64_t kMinSavedBytes = 1 << 20;
constexpr uint64_t kMinSavedShare = 100;  // a hundredth of the peak

// Whether most objects are freed within their step, and some are freed later.
bool SomeAreLate(const SiteHistory& history) {
  if (history.birth_steps < kMinSteps) return false;
  // More than the last two steps made: it is meant to stay, or a leak.
  if (history.live_objects() * history.birth_steps > 2 * history.born_objects) return false;
  uint64_t died = 0;
  for (const uint64_t objects : history.completed_lifetimes) died += objects;
  const uint64_t at_once = died == 0 ? 0 : history.completed_lifetimes[0];
  return at_once < died && static_cast<double>(at_once) >= kMostShare * static_cast<double>(died);
}

// By device and category. None where the job itself does not tell where a step ends.
std::vector<LateGroup> LateGroups(const ProcessAnalysis& analysis, const SitePurposes& purposes) {
  const Ledger& ledger = analysis.ledger();
  const StepSource source = analysis.plan().source;
  // Where a step ends by the rhythm of allocations alone, it may end amidst what belongs together.
  if (source == StepSource::kPeriodicity || source == StepSource::kNone) return {};
  std::map<std::pair<uint32_t, Category>, LateGroup> groups;
  for (const SiteIndex i : ledger.sites().indices()) {
    const Site& site = ledger.sites()[i];
    const Category category = purposes[i].inferred;
    // Of what is not looked at nothing is said, and input is there ahead of its step for good reasons.
    if (category == Category::kOther || category == Category::kInput || site.scope == Site::kNoScope) continue;
    if (!ledger.scopes()[site.scope].is_leading() || !SomeAreLate(analysis.histories().history(i))) continue;
    if (analysis.verdicts()[i].verdict == Verdict::kCycleGarbage) continue;  // which says it already
    LateGroup& group = groups[{site.scope, purposes[i].category}];
    group.scope = site.scope;
    group.sites.push_back(i);
  }
  std::vector<LateGroup> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

// The largest at the peak whose group is in the report; none if there is none.
ReportSiteIndex LargestOf(const ProcessAnalysis& analysis, const std::vector<SiteIndex>& sites) {
  const auto size = [&](SiteIndex site) {
    const Site& known = analysis.ledger().sites()[site];
    return std::make_pair(known.bytes_at_peak, known.bytes_allocated);
  };
  SiteIndex largest;
  for (const SiteIndex site : sites) {
    if (analysis.GroupOf(site) == ProcessAnalysis::kNoGroup) continue;
    if (largest.is_none() || size(site) > size(largest)) largest = site;
  }
  return largest.is_none() ? ReportSiteIndex() : ListedSite(analysis.GroupOf(largest));
}

// Adds to each device the objects that are freed later than most of their sites, by what they would save at its peak;
// only those that matter. Sites are named by their index.
class LateFindings final : public Collector {
 public:
  LateFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes)
      : analysis_(analysis), groups_(LateGroups(analysis, purposes)) {}

  const char* name() const override { return "late objects"; }

  void Prepare(Replay* detail) override {
    for (LateGroup& group : groups_) group.watched = detail->counterfactual.WatchLate(group.sites);
  }

  void Describe(const Replay& replay, ProcessFindings* findings) override {
    for (ReportDevice& device : findings->devices) {
      for (const LateGroup& group : groups_) {
        const Scope& scope = analysis_.ledger().scopes()[group.scope];
        const uint64_t saved = scope.peak - replay.counterfactual.PeakWithout(group.watched);
        if (scope.device != DeviceIndex(device.index)) continue;
        if (saved < std::max(kMinSavedBytes, scope.peak / kMinSavedShare)) continue;
        device.late_frees.push_back({LargestOf(analysis_, group.sites), group.sites.size(), saved});
      }
      std::stable_sort(device.late_frees.begin(), device.late_frees.end(),
                       [](const ReportLateFree& a, const ReportLateFree& b) { return a.peak_saved > b.peak_saved; });
    }
  }

 private:
  const ProcessAnalysis& analysis_;
  std::vector<LateGroup> groups_;
};

}  // namespace

std::unique_ptr<Collector> MakeLateFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes) {
  return std::make_unique<LateFindings>(analysis, purposes);
}

}  // namespace vramtrack
