// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/peaks/peak_collectors.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/attribution/library.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"

namespace vramtrack {
namespace {

// Points of the good step that are kept; where there are more, every second one goes.
constexpr size_t kMaxSnapshots = 64;
constexpr double kPeakPrecision = 1.01;
// To look at all sites takes a while where there are more than this.
constexpr size_t kManySites = 200000, kMaxSnapshotsOfMany = 4;
constexpr double kPeakPrecisionOfMany = 1.5;
constexpr double kLeastKnown = 0.5;

// Compares the live sites at a failed allocation with those at the same point of the last good step. The same point is
// where the failing code had made the same number of requests. If it had made none in that step, the step's peak is
// used, which is found to about a hundredth, or to a third if there are very many sites. Follows a second replay and
// visits all sites only at such points, so memory and time are bounded by sites, not by the trace. Thread-compatible.
class OomStudy final : public ReplayObserver {
 public:
  // A step's allocations are compared with those of this many steps before.
  static constexpr uint32_t kStepsBefore = 8;

  struct Change {
    SiteIndex site;
    uint64_t then, now;  // bytes live in the good step and at the failure
  };
  struct Finding {
    std::vector<std::pair<SiteIndex, uint64_t>> held;  // bytes live at the failure, by site; all sites of the device
    std::optional<uint32_t> compared_step;             // index of the good step
    bool same_point = false;                           // false: the step's peak was compared
    std::vector<Change> changes;                       // sites with more or fewer bytes than in the good step
    // Size of the step's allocations, relative to the size of the same sites' objects in the steps before; none if
    // these sites had allocated less than half of the step's bytes.
    std::optional<double> size_ratio;
  };

  // `first`: the first replay; `failures`: its failures, which must outlive it. `asking`: for each failure the sites
  // of the code that made the request.
  OomStudy(const Ledger& first, const std::vector<OutOfMemory>& failures, std::vector<std::vector<SiteIndex>> asking)
      : cases_(failures.size()), findings_(failures.size()) {
    std::set<uint32_t> failing_steps;
    for (const OutOfMemory& failure : failures) failing_steps.insert(failure.step);
    const bool steps = first.steps().plan().has_steps();
    for (size_t i = 0; i < cases_.size(); ++i) {
      Case& study = cases_[i];
      study.failure = &failures[i];
      study.asking = std::move(asking[i]);
      std::sort(study.asking.begin(), study.asking.end());
      for (uint32_t step = study.failure->step; steps && step-- > 0;) {
        if (failing_steps.count(step) != 0) continue;
        study.good_step = step;
        break;
      }
    }
  }

  void OnBegin(const Ledger& ledger) override {
    ledger_ = &ledger;
    BeginStep(0);
  }

  void OnAllocate(const ReplayAllocation& allocated) override {
    if (__builtin_expect(active_, 0)) Allocated(allocated.allocation);
  }
  void OnStepEnd(uint32_t step) override { BeginStep(step + 1); }
  void OnOtherEvent(const StreamEvent& event) override {
    if (event.operation == schema::FAIL) Failed(event);
  }

  // Returns one finding for each failure, in the same order.
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  using Held = std::vector<std::pair<SiteIndex, uint64_t>>;  // site and bytes, sorted by site

  struct Snapshot {
    uint64_t asked = 0;  // requests of the code in that step, without the failing one
    Held held;
  };
  struct Case {
    const OutOfMemory* failure = nullptr;
    std::optional<uint32_t> good_step;
    std::vector<SiteIndex> asking;  // sites, sorted
    bool done = false;
    uint64_t asked = 0;  // requests in the current step
    uint64_t stride = 1;
    std::vector<Snapshot> snapshots;  // of the good step
    uint64_t peak = 0;
    Held at_peak;                                                    // of the good step
    std::map<SiteIndex, std::pair<uint64_t, uint64_t>> before, now;  // objects and bytes allocated, by site
  };

  void BeginStep(uint32_t step) {
    active_ = false;
    for (Case& study : cases_) {
      study.asked = 0;
      if (!study.done && study.good_step && step + kStepsBefore >= *study.good_step && step <= study.failure->step) {
        active_ = true;
      }
    }
  }

  void Allocated(const LiveAllocation& allocation) {
    const Site& site = ledger_->sites()[allocation.site];
    const uint32_t step = ledger_->steps().step();
    const bool many = ledger_->sites().size() > kManySites;
    for (Case& study : cases_) {
      if (study.done || !study.good_step || !IsOfDevice(site, study.failure->device)) continue;
      if (step + kStepsBefore < *study.good_step || step > study.failure->step) continue;
      // Of steps between the two nothing is said: an allocation failed in them.
      if (step > *study.good_step && step != study.failure->step) continue;
      auto& [objects, bytes] = (step <= *study.good_step ? study.before : study.now)[allocation.site];
      ++objects;
      bytes += allocation.bytes;
      const bool asks = std::binary_search(study.asking.begin(), study.asking.end(), allocation.site);
      if (step == *study.good_step) {
        if (asks && study.asked % study.stride == 0) {
          if (study.snapshots.size() == (many ? kMaxSnapshotsOfMany : kMaxSnapshots)) {
            study.stride *= 2;
            study.snapshots.erase(std::remove_if(study.snapshots.begin(), study.snapshots.end(),
                                                 [&](const Snapshot& one) { return one.asked % study.stride != 0; }),
                                  study.snapshots.end());
          }
          if (study.asked % study.stride == 0) {
            study.snapshots.push_back(
                {study.asked, HeldOn(study.failure->device, {allocation.site, allocation.bytes})});
          }
        }
        const Scope& scope = ledger_->scopes()[site.scope];
        const double precision = many ? kPeakPrecisionOfMany : kPeakPrecision;
        if (scope.is_leading() && static_cast<double>(scope.live) > precision * static_cast<double>(study.peak)) {
          study.peak = scope.live;
          study.at_peak = HeldOn(study.failure->device);
        }
      }
      study.asked += asks;
    }
  }

  void Failed(const StreamEvent& event) {
    for (size_t i = 0; i < cases_.size(); ++i) {
      Case& study = cases_[i];
      const OutOfMemory& failure = *study.failure;
      if (study.done || failure.ticks != event.time || failure.requested != event.shape->bytes ||
          failure.device != DeviceIndex(event.shape->device)) {
        continue;
      }
      findings_[i].held = HeldOn(failure.device);
      Compare(study, &findings_[i]);
      Case finished;  // what was kept is needed no more
      finished.failure = study.failure;
      finished.done = true;
      study = std::move(finished);
      return;
    }
  }

  void Compare(const Case& study, Finding* finding) const {
    if (!study.good_step) return;
    const Held* then = nullptr;
    for (const Snapshot& one : study.snapshots) {
      if (one.asked <= study.asked) then = &one.held;
    }
    finding->same_point = then != nullptr;
    if (then == nullptr && !study.at_peak.empty()) then = &study.at_peak;
    if (then == nullptr) return;
    finding->compared_step = study.good_step;
    auto a = then->begin();
    for (auto b = finding->held.begin(); a != then->end() || b != finding->held.end();) {
      Change change;
      if (b == finding->held.end() || (a != then->end() && a->first < b->first)) {
        change = {a->first, a->second, 0};
        ++a;
      } else if (a == then->end() || b->first < a->first) {
        change = {b->first, 0, b->second};
        ++b;
      } else {
        change = {a->first, a->second, b->second};
        ++a, ++b;
      }
      if (change.then != change.now) finding->changes.push_back(change);
    }
    double known = 0, expected = 0, all = 0;
    for (const auto& [site, sum] : study.now) {
      const auto& [objects, bytes] = sum;
      all += static_cast<double>(bytes);
      const auto before = study.before.find(site);
      if (before == study.before.end() || before->second.first == 0) continue;
      known += static_cast<double>(bytes);
      expected += static_cast<double>(before->second.second) / static_cast<double>(before->second.first) *
                  static_cast<double>(objects);
    }
    if (expected > 0 && known >= kLeastKnown * all) finding->size_ratio = known / expected;
  }

  bool IsOfDevice(const Site& site, DeviceIndex device) const {
    return site.scope != Site::kNoScope && site.key.device == device;
  }

  // Returns the bytes live on a device by site. `less`: a site, and bytes of it to leave out.
  Held HeldOn(DeviceIndex device, std::pair<SiteIndex, uint64_t> less = {}) const {
    Held held;
    const Sites& sites = ledger_->sites();
    for (const SiteIndex i : sites.indices()) {
      if (!IsOfDevice(sites[i], device)) continue;
      const uint64_t bytes = sites[i].live_bytes - sites[i].segment_bytes - (less.first == i ? less.second : 0);
      if (bytes > 0) held.emplace_back(i, bytes);
    }
    return held;
  }

  const Ledger* ledger_ = nullptr;
  std::vector<Case> cases_;
  std::vector<Finding> findings_;
  bool active_ = false;
};

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

// Describes each failed allocation: the live bytes at that moment by site and by category, and what has changed since
// the last good step.
class OomFindings final : public Collector {
 public:
  OomFindings(ProcessAnalysis* analysis, const SitePurposes& purposes)
      : analysis_(*analysis),
        purposes_(purposes),
        study_(analysis->ledger(), analysis->failures().all(), AskingSites(*analysis)) {}

  const char* name() const override { return "out of memory"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&study_); }

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
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

 private:
  void DescribeHolders(const OutOfMemory& failed, const OomStudy::Finding& study, ReportOom* oom) const {
    // Memory that an allocator divides is held by its blocks.
    const TracedAllocator* const allocator = analysis_.trace().definitions().AllocatorOn(oom->device);
    const auto is_divided = [&](SiteIndex i) {
      if (allocator == nullptr || !allocator->by_handle) return false;
      const Site& site = analysis_.ledger().sites()[i];
      return site.key.kind != schema::FRAMEWORK_BLOCK &&
             analysis_.symbolizer().Owner(site.key.stack) == allocator->name;
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
      // Outside a framework's blocks: what libraries took from the driver, which nobody has looked at.
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

  ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  OomStudy study_;
};

}  // namespace

std::unique_ptr<Collector> MakeOomFindings(ProcessAnalysis* analysis, const SitePurposes& purposes) {
  return std::make_unique<OomFindings>(analysis, purposes);
}

}  // namespace vramtrack
