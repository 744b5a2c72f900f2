// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/ended_growth.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/leaks/growth.h"

namespace vramtrack {
namespace {

// Of the rate of all leaks of a device, the lowest level rises by this share at least; of the handles that a site left,
// fewer older ones are destroyed.
constexpr double kRisingShare = 0.5;
// A device that empties so many times as fast as the leaks fill it does so for another reason.
constexpr double kOtherReason = 10;
// Of what a site left, freed in turn after the last step.
constexpr double kFreedShare = 0.5;
constexpr uint64_t kFewestFreed = 5;
// Allocations after the last step, of those in all steps.
constexpr double kMuchWork = 0.1;
constexpr uint64_t kFewestAllocations = 16;
// Time after the last step, of that of all steps; and seconds, as a process does not free everything at once.
constexpr double kMuchLonger = 20, kFewestSeconds = 1;

class EndedGrowth {
 public:
  explicit EndedGrowth(const ReplayedRun& run)
      : run_(run), sites_(run.ledger.sites()), steps_(run.ledger.steps().step()) {
    CountReleases();
    for (const Site& site : sites_) allocations_ += LevelOf(site) == Level::kHandle ? 0 : site.allocations;
    allocations_ -= std::min(allocations_, run.order.allocations_after_steps());
    works_on_ = WorksOn();
    lasts_longer_ = LastsLonger();
  }

  void Doubt(SiteVerdicts* verdicts) const {
    const std::set<DeviceIndex> level = LevelDevices(*verdicts);
    const std::set<uint32_t> level_handles = LevelHandles(*verdicts);
    for (const SiteIndex i : verdicts->indices()) {
      LeakVerdict& verdict = (*verdicts)[i];
      if (!IsLeft(i, verdict)) continue;
      if (WasFreedInTurn(i)) {
        vramtrack::Doubt("what was left was freed piece by piece after the last step, while the job went on", &verdict);
      } else if (GoesOn(i) && StepsAreInferred(i) && HasStopped(i)) {
        vramtrack::Doubt(
            "the loop in which memory grew was over long before the job, and may have loaded what the job worked with: "
            "call vramtrack_step() once a step",
            &verdict);
      } else if (LevelOf(sites_[i]) == Level::kHandle ? level_handles.count(sites_[i].key.kind) > 0
                                                      : FillsDevice(i) && level.count(sites_[i].key.device) > 0) {
        vramtrack::Doubt(
            "as much from before is freed meanwhile and nothing grows in all, so what stays may have taken its place",
            &verdict);
      }
    }
  }

 private:
  bool IsLeft(SiteIndex i, const LeakVerdict& verdict) const {
    return IsLeak(verdict.verdict) && verdict.evidence.buffer.trend == BufferTrend::kNone && !IsSegmentSite(sites_[i]);
  }

  bool FillsDevice(SiteIndex i) const { return CountsForGrowth(run_.ledger, sites_[i], sites_[i].key.device); }

  // Those that leaks do not fill.
  std::set<DeviceIndex> LevelDevices(const SiteVerdicts& verdicts) const {
    struct Leaks {
      double bytes_per_step = 0;
      Step first = 0;
    };
    std::map<DeviceIndex, Leaks> leaks;
    for (const SiteIndex i : verdicts.indices()) {
      const LeakVerdict& verdict = verdicts[i];
      // A phase that others follow has no levels up to the end of the run.
      const bool latest = run_.phases.empty() || !run_.phases[run_.phase_of_site[i]].ended;
      if (!IsLeak(verdict.verdict) || !FillsDevice(i) || !latest) continue;
      const auto [found, is_new] = leaks.try_emplace(sites_[i].key.device);
      Leaks& of = found->second;
      of.first = is_new ? verdict.evidence.leaking.begin : std::min(of.first, verdict.evidence.leaking.begin);
      of.bytes_per_step += verdict.rate_bytes_per_step;
    }
    std::set<DeviceIndex> level;
    for (const auto& [device, of] : leaks) {
      const Scope* scope = LeadingScope(run_.ledger, device);
      if (scope == nullptr) continue;
      const std::optional<FittedGrowth> growth = FitGrowth(SeriesOf(scope->floors, scope->floors), of.first);
      if (!growth || growth->ci_high >= kRisingShare * of.bytes_per_step) continue;
      if (growth->bytes_per_step > -kOtherReason * of.bytes_per_step) level.insert(device);
    }
    return level;
  }

  // Handles have no memory that could be added up. But at sites where none lives longer than a step except those of the
  // set-up, what dies in later steps is theirs.
  std::set<uint32_t> LevelHandles(const SiteVerdicts& verdicts) const {
    struct Handles {
      uint64_t left = 0;
      Step first = 0;
    };
    std::map<uint32_t, Handles> kinds;
    for (const SiteIndex i : verdicts.indices()) {
      const LeakEvidence& evidence = verdicts[i].evidence;
      if (LevelOf(sites_[i]) != Level::kHandle || !IsLeak(verdicts[i].verdict)) continue;
      const auto [found, is_new] = kinds.try_emplace(sites_[i].key.kind);
      Handles& of = found->second;
      of.first = is_new ? evidence.tested.begin : std::min(of.first, evidence.tested.begin);
      of.left += evidence.survivors.objects;
    }
    if (kinds.empty()) return {};
    std::map<uint32_t, uint64_t> freed;
    for (const SiteIndex i : sites_.indices()) {
      const auto of = kinds.find(sites_[i].key.kind);
      if (of == kinds.end()) continue;
      const SiteHistory history = run_.histories.history(i);
      if (history.max_completed_lifetime_steps > 0) continue;
      for (const Deaths& deaths : history.deaths)
        freed[of->first] += deaths.step >= of->second.first ? deaths.objects : 0;
    }
    std::set<uint32_t> level;
    for (const auto& [kind, of] : kinds) {
      if (static_cast<double>(freed[kind]) >= kRisingShare * static_cast<double>(of.left)) level.insert(kind);
    }
    return level;
  }

  // How many objects of each site were freed after the last step with allocations since the one before.
  void CountReleases() {
    std::map<SiteIndex, uint64_t> last;
    for (const SiteOrder::Release& release : run_.order.released()) {
      uint64_t& before = last[release.site];
      freed_in_turn_[release.site] += release.allocations > before;
      before = release.allocations;
    }
  }

  bool WasFreedInTurn(SiteIndex i) const {
    const auto found = freed_in_turn_.find(i);
    if (found == freed_in_turn_.end() || found->second < kFewestFreed) return false;
    const auto left = static_cast<double>(run_.histories.history(i).live_objects());
    return static_cast<double>(found->second) >= kFreedShare * left;
  }

  // Python may take its time before it frees what a program has left.
  bool GoesOn(SiteIndex i) const {
    return works_on_ || (lasts_longer_ && run_.trace.definitions().stacks.Get(sites_[i].key.stack).python.count == 0);
  }

  bool WorksOn() const {
    const uint64_t after = run_.order.allocations_after_steps();
    return after >= kFewestAllocations && static_cast<double>(after) >= kMuchWork * static_cast<double>(allocations_);
  }

  bool LastsLonger() const {
    const std::vector<uint64_t>& ends = run_.ledger.step_ends();
    if (ends.empty()) return false;
    const uint64_t until = run_.order.active_until();
    const auto steps = static_cast<double>(ends.back() - ends.front());
    const auto after = static_cast<double>(until - std::min(until, ends.back()));
    return after >= kMuchLonger * steps && after >= kFewestSeconds * run_.trace.clock().ticks_per_second();
  }

  bool StepsAreInferred(SiteIndex i) const {
    const StepPlan& plan = run_.ledger.steps().plan();
    if (run_.phases.empty()) return plan.source == StepSource::kPeriodicity;
    const RunPhase& phase = run_.phases[run_.phase_of_site[i]];
    return !phase.ended && phase.kind == PlannedPhase::Kind::kSteps &&
           plan.phases[phase.plan].source == StepSource::kPeriodicity;
  }

  // The site allocates no more after the last step than in one or two.
  bool HasStopped(SiteIndex i) const {
    const uint64_t born = run_.histories.history(i).born_objects;
    return steps_ > 0 && (sites_[i].allocations - std::min(born, sites_[i].allocations)) * steps_ <= 2 * born + steps_;
  }

  const ReplayedRun& run_;
  const Sites& sites_;
  const Step steps_;
  uint64_t allocations_ = 0;  // in steps
  bool works_on_ = false, lasts_longer_ = false;
  std::map<SiteIndex, uint64_t> freed_in_turn_;
};

}  // namespace

void DoubtEndedGrowth(const ReplayedRun& run, SiteVerdicts* verdicts) { EndedGrowth(run).Doubt(verdicts); }

}  // namespace vramtrack
