// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/peaks/pattern_findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace vramtrack {
namespace {

constexpr uint32_t kMinSteps = 8;
constexpr double kAsARule = 0.8, kHardlyEver = 0.02;

// What saves less is not worth a line.
constexpr uint64_t kMinSavedBytes = 1 << 20;
constexpr uint64_t kMinSavedShare = 100;  // a hundredth of the peak

bool Matters(uint64_t bytes, const Scope& scope) {
  return bytes >= std::max(kMinSavedBytes, scope.peak / kMinSavedShare);
}

enum class Late { kNever, kSometimes, kAsARule };

Late LatenessOf(const SiteHistory& history, Verdict verdict) {
  if (history.birth_steps < kMinSteps) return Late::kNever;
  // More than the last two steps made: it is meant to stay, or a leak.
  if (history.live_objects() * history.birth_steps > 2 * history.born_objects) return Late::kNever;
  if (verdict == Verdict::kCycleGarbage) return Late::kSometimes;
  uint64_t died = 0;
  for (const uint64_t objects : history.completed_lifetimes) died += objects;
  const auto share = [died](uint64_t objects) { return static_cast<double>(objects) / static_cast<double>(died); };
  if (died == 0) return Late::kNever;
  const uint64_t at_once = history.completed_lifetimes[0], in_the_next = history.completed_lifetimes[1];
  if (share(in_the_next) >= kAsARule && share(died - at_once - in_the_next) <= kHardlyEver) return Late::kAsARule;
  if (share(at_once) >= kAsARule && at_once < died) return Late::kSometimes;
  return Late::kNever;
}

// The largest at the peak whose group is in the report.
size_t LargestGroup(const ProcessAnalysis& analysis, const std::vector<SiteIndex>& sites) {
  const auto size = [&](SiteIndex site) {
    const Site& known = analysis.ledger().sites()[site];
    return std::make_tuple(known.bytes_at_peak, known.bytes_allocated);
  };
  SiteIndex largest;
  for (const SiteIndex site : sites) {
    if (analysis.GroupOf(site) == ProcessAnalysis::kNoGroup) continue;
    if (largest.is_none() || size(site) > size(largest)) largest = site;
  }
  return largest.is_none() ? ProcessAnalysis::kNoGroup : analysis.GroupOf(largest);
}

std::string NameOf(const CategoryRules& rules, Category category) {
  if (category == Category::kUnknown || category == Category::kTemporary) return "objects";
  return absl::StrReplaceAll(rules.Name(category), {{"_", " "}});
}

ReportPattern DescribeLate(const ProcessAnalysis& analysis, const SitePurposes& purposes, const LateGroup& group,
                           const LateObjects::Result& result) {
  const Ledger& ledger = analysis.ledger();
  ReportPattern pattern;
  const CategoryRules& rules = analysis.options().categories;
  pattern.category = rules.Name(purposes[group.sites[0]].category);
  const std::string name = NameOf(rules, purposes[group.sites[0]].category);
  const SiteIndex first = group.sites[0];
  const bool as_a_rule =
      LatenessOf(analysis.histories().history(first), analysis.verdicts()[first].verdict) == Late::kAsARule;
  if (as_a_rule && 2 * result.replaced < result.objects) {
    pattern.pattern = ObjectPattern::kUnusedBetween;
    pattern.explanation = absl::StrCat(
        name,
        " of one step are kept far into the next, where they are freed before they are made anew: freed where "
        "their step ends they would not be there at the peak");
  } else if (as_a_rule) {
    pattern.pattern = ObjectPattern::kLateFree;
    pattern.explanation = absl::StrCat(
        name,
        " of one step are freed in the next, after their successors have been allocated: a variable that is "
        "overwritten and not deleted keeps them, if nothing reads them");
  } else if (analysis.verdicts()[first].verdict == Verdict::kCycleGarbage) {
    pattern.pattern = ObjectPattern::kLateFree;
    pattern.explanation = absl::StrCat(name, " are freed in bursts, steps later, as by a garbage collector");
  } else {
    pattern.pattern = ObjectPattern::kLateFree;
    pattern.explanation = absl::StrCat(
        "most ", name, " of these sites are freed within their step, and these were not, until a later one");
  }
  pattern.sites = group.sites.size();
  pattern.objects = result.objects;
  pattern.bytes = result.most;
  pattern.peak_saved = ledger.scopes()[group.scope].peak - result.peak;
  if (const size_t site = LargestGroup(analysis, group.sites); site != ProcessAnalysis::kNoGroup) {
    pattern.site = absl::StrCat(site);
  }
  return pattern;
}

void AddRedundant(const ProcessAnalysis& analysis, const ReusableMemory& reusable, uint32_t scope,
                  ReportDevice* device) {
  const Ledger& ledger = analysis.ledger();
  const uint32_t steps = analysis.run().steps;
  if (steps < kMinSteps) return;
  ReusableMemory::Sum sum;
  std::vector<SiteIndex> sites;
  for (const SiteIndex i : ledger.sites().indices()) {
    const ReusableMemory::Sum& one = reusable.reusable(i);
    if (one.objects == 0 || ledger.sites()[i].scope != scope) continue;
    sum.objects += one.objects;
    sum.bytes += one.bytes;
    sites.push_back(i);
  }
  const uint64_t a_step = sum.objects / steps;
  if (a_step == 0 || !Matters(sum.bytes / steps, ledger.scopes()[scope])) return;
  ReportPattern pattern;
  pattern.pattern = ObjectPattern::kRedundantAllocation;
  pattern.sites = sites.size();
  pattern.objects = sum.objects;
  pattern.bytes = sum.bytes;
  if (const size_t site = LargestGroup(analysis, sites); site != ProcessAnalysis::kNoGroup) {
    pattern.site = absl::StrCat(site);
  }
  pattern.explanation = absl::StrFormat(
      "%d allocations in a step request from the driver as much as the job has released before: %d buffers, if kept, "
      "would serve them; this saves calls, not memory",
      a_step, reusable.Buffers(scope));
  device->patterns.push_back(std::move(pattern));
}

// Candidates, by device and category: sites whose objects live on into the next step as a rule, and sites where only
// some do, or that are freed by a garbage collector. None where the job itself does not tell where a step ends.
std::vector<LateGroup> LateGroups(const ProcessAnalysis& analysis, const SitePurposes& purposes) {
  const Ledger& ledger = analysis.ledger();
  const StepSource source = analysis.plan().source;
  // Where a step ends by the rhythm of allocations alone, it may end amidst what belongs together.
  if (source == StepSource::kPeriodicity || source == StepSource::kNone) return {};
  std::map<std::tuple<uint32_t, Late, bool, Category>, LateGroup> groups;
  for (const SiteIndex i : ledger.sites().indices()) {
    const Site& site = ledger.sites()[i];
    const Category category = purposes[i].inferred;
    // Of what is not looked at nothing is said, and input is there ahead of its step for good reasons.
    if (category == Category::kOther || category == Category::kInput || site.scope == Site::kNoScope) continue;
    if (!ledger.scopes()[site.scope].is_leading()) continue;
    const Verdict verdict = analysis.verdicts()[i].verdict;
    const Late late = LatenessOf(analysis.histories().history(i), verdict);
    if (late == Late::kNever) continue;
    LateGroup& group = groups[{site.scope, late, verdict == Verdict::kCycleGarbage, purposes[i].category}];
    group.scope = site.scope;
    group.sites.push_back(i);
  }
  std::vector<LateGroup> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

// Whether an optimizer's step allocates there.
IndexedVector<SiteIndex, bool> InOptimizer(const SitePurposes& purposes) {
  IndexedVector<SiteIndex, bool> in_optimizer;
  for (const Purpose& purpose : purposes) in_optimizer.push_back(purpose.in_optimizer);
  return in_optimizer;
}

}  // namespace

PatternFindings::PatternFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes)
    : analysis_(analysis),
      purposes_(purposes),
      late_(LateGroups(analysis, purposes), InOptimizer(purposes)),
      reusable_(analysis.ledger()) {}

void PatternFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  const std::vector<Scope>& scopes = analysis_.ledger().scopes();
  for (ReportDevice& device : findings->devices) {
    for (size_t i = 0; i < late_.groups().size(); ++i) {
      const Scope& scope = scopes[late_.groups()[i].scope];
      if (scope.device != DeviceIndex(device.index) || !Matters(scope.peak - late_.results()[i].peak, scope)) continue;
      device.patterns.push_back(DescribeLate(analysis_, purposes_, late_.groups()[i], late_.results()[i]));
    }
    for (uint32_t i = 0; i < scopes.size(); ++i) {
      if (scopes[i].is_leading() && scopes[i].device == DeviceIndex(device.index))
        AddRedundant(analysis_, reusable_, i, &device);
    }
    std::stable_sort(device.patterns.begin(), device.patterns.end(),
                     [](const ReportPattern& a, const ReportPattern& b) { return a.peak_saved > b.peak_saved; });
  }
}

}  // namespace vramtrack
