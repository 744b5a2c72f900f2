// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/peaks/oom_findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analyzer/attribution/library.h"
#include "analyzer/findings/core/device_findings.h"

namespace vramtrack {
namespace {

// Less has not changed.
constexpr uint64_t kMinChange = 64 << 10;

// What a ratio of sizes means; empty if it is unknown.
std::optional<SizeChange> SizeChangeOf(const std::optional<double>& ratio) {
  constexpr double kLarger = 1.1;
  if (!ratio) return std::nullopt;
  return *ratio > kLarger ? SizeChange::kLarger : *ratio < 1 / kLarger ? SizeChange::kSmaller : SizeChange::kSame;
}

// Whether the process lived on. The step of the failure may end as well, when Python exits.
bool WentOn(const ProcessAnalysis& analysis, const OutOfMemory& failed) {
  const RunShape& run = analysis.run();
  if (run.steps == 0 || run.windows) return analysis.failures().allocations() > failed.allocations;
  return run.steps > failed.step + 2;
}

// A stack from where an allocator was called.
std::vector<uint64_t> CallOf(const Definitions& definitions, StackIndex stack) {
  const JoinedStackRef joined = definitions.stacks.Get(stack);
  std::vector<uint64_t> call = {static_cast<uint64_t>(joined.node)};
  size_t first = 0;
  for (; first < joined.native.count; ++first) {
    const int module = definitions.modules.Find(joined.native.frames[first] - 1, joined.native.module_epoch);
    if (module < 0) break;
    const std::string& path = definitions.modules.modules()[static_cast<size_t>(module)].path;
    if (!IsAllocationPlumbing(path) && !IsFrameworkAllocator(path)) break;
  }
  for (size_t i = first; i < joined.native.count; ++i) call.push_back(joined.native.frames[i]);
  call.push_back(0);
  for (size_t i = 0; i < joined.python.count; ++i) {
    call.push_back(uint64_t{joined.python.frames[i].code} << 32 | joined.python.frames[i].line);
  }
  return call;
}

// For each failed allocation the sites that were allocated by the same call: their stacks are alike from
// where the allocator was called.
std::vector<std::vector<SiteIndex>> AskingSites(const ProcessAnalysis& analysis) {
  const Ledger& ledger = analysis.ledger();
  const std::vector<OutOfMemory>& failed_ones = analysis.failures().all();
  using Call = std::pair<std::pair<Level, DeviceIndex>, std::vector<uint64_t>>;  // level, device, stack
  const Definitions& definitions = analysis.trace().definitions();
  std::map<Call, std::vector<size_t>> failures;
  for (size_t i = 0; i < failed_ones.size(); ++i) {
    const OutOfMemory& failed = failed_ones[i];
    const Level level = failed.framework && failed.framework->failed ? Level::kFramework : Level::kDriver;
    failures[{{level, failed.device}, CallOf(definitions, failed.stack)}].push_back(i);
  }
  std::vector<std::vector<SiteIndex>> asking(failed_ones.size());
  if (failures.empty()) return asking;
  for (const SiteIndex i : ledger.sites().indices()) {
    const SiteKey& key = ledger.sites()[i].key;
    const auto found = failures.find({{LevelOf(key.kind), key.device}, CallOf(definitions, key.stack)});
    if (found == failures.end()) continue;
    for (const size_t failure : found->second) asking[failure].push_back(i);
  }
  return asking;
}

}  // namespace

OomFindings::OomFindings(ProcessAnalysis* analysis, const SitePurposes& purposes)
    : analysis_(*analysis),
      purposes_(purposes),
      study_(analysis->ledger(), analysis->failures().all(), AskingSites(*analysis)) {}

void OomFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  const Ledger& ledger = analysis_.ledger();
  for (size_t i = 0; i < analysis_.failures().all().size(); ++i) {
    const OutOfMemory& failed = analysis_.failures().all()[i];
    ReportOom oom = DescribeOutOfMemory(analysis_.trace(), ledger, analysis_.run(), failed);
    oom.stack = analysis_.shown().Frames(failed.stack);
    oom.went_on = WentOn(analysis_, failed);
    DescribeHolders(failed, study_.findings()[i], &oom);
    findings->oom.push_back(std::move(oom));
  }
}

void OomFindings::DescribeHolders(const OutOfMemory& failed, const OomStudy::Finding& study, ReportOom* oom) const {
  // Memory that an allocator divides is held by its blocks.
  const TracedAllocator* const allocator = analysis_.trace().definitions().AllocatorOn(oom->device);
  const auto is_divided = [&](SiteIndex i) {
    if (allocator == nullptr || !allocator->by_handle) return false;
    const Site& site = analysis_.ledger().sites()[i];
    return site.key.kind != schema::FRAMEWORK_BLOCK && analysis_.symbolizer().Owner(site.key.stack) == allocator->name;
  };
  std::map<size_t, uint64_t> held;
  for (const auto& [site, bytes] : failed.holders) {
    if (!is_divided(site)) held[analysis_.GroupOf(site)] += bytes;
  }
  for (const auto& [group, bytes] : held) oom->holders.push_back({ListedSite(group), bytes});
  std::stable_sort(oom->holders.begin(), oom->holders.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });

  const CategoryRules& rules = analysis_.options().categories;
  std::vector<uint64_t> by_category(rules.count());
  const Ledger& ledger = analysis_.ledger();
  for (const auto& [site, bytes] : study.held) {
    if (is_divided(site)) continue;
    // Beside a framework's blocks: what libraries took from the driver, which nobody has looked at.
    const bool leading = ledger.scopes()[ledger.sites()[site].scope].is_leading();
    by_category[static_cast<size_t>(leading ? purposes_[site].category : Category::kOther)] += bytes;
  }
  for (size_t i = 0; i < by_category.size(); ++i) {
    if (by_category[i] > 0) oom->categories.emplace_back(rules.Name(static_cast<Category>(i)), by_category[i]);
  }
  std::stable_sort(oom->categories.begin(), oom->categories.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });

  if (study.compared_step) oom->compared_step = ReportedStep(analysis_.run(), *study.compared_step);
  if (!oom->compared_step) return;
  oom->same_point = study.same_point;
  oom->size_ratio = study.size_ratio;
  oom->size_change = SizeChangeOf(study.size_ratio);
  std::map<size_t, ReportOom::Change> changes;
  for (const OomStudy::Change& change : study.changes) {
    oom->then += change.then;
    oom->now += change.now;
    const size_t group = analysis_.GroupOf(change.site);
    if (group == ProcessAnalysis::kNoGroup) continue;
    changes[group].then += change.then;
    changes[group].now += change.now;
  }
  for (auto& [group, change] : changes) {
    const uint64_t by = change.now > change.then ? change.now - change.then : change.then - change.now;
    if (by < kMinChange) continue;
    change.site = ListedSite(group);
    oom->changes.push_back(std::move(change));
  }
  const auto growth = [](const ReportOom::Change& change) {
    return static_cast<int64_t>(change.now) - static_cast<int64_t>(change.then);
  };
  std::stable_sort(oom->changes.begin(), oom->changes.end(),
                   [&](const auto& a, const auto& b) { return growth(a) > growth(b); });
}

}  // namespace vramtrack
