// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/step_plan.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/core/replays.h"
#include "analyzer/findings/core/step_candidates.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/steps/regular_gaps.h"
#include "analyzer/steps/step_choice.h"

namespace vramtrack {
namespace {

// What a site allocates less often is set-up.
constexpr uint64_t kRepeated = 8;
constexpr size_t kMinSteps = 4;
constexpr uint64_t kInRoughWindow = 2;  // allocations
// A choice whose steps cover this much of the run needs no help of the stream's own period.
constexpr double kCovers = 0.7;

// Whether anything comes and goes as often as the family occurs. A loop in which nothing does is one over the weights
// of a model, or another part of the set-up: it does not work.
bool Works(const Ledger& ledger, const GapFamily& family) {
  return std::any_of(ledger.sites().begin(), ledger.sites().end(), [&](const Site& site) {
    return site.allocations + 1 >= family.occurrences && 2 * site.frees >= site.allocations;
  });
}

// Bytes of short-lived objects.
uint64_t WorkBytes(const Ledger& ledger) {
  uint64_t bytes = 0;
  for (const Site& site : ledger.sites()) {
    const bool works = site.scope != Site::kNoScope && site.segments == 0 && site.allocations >= kRepeated &&
                       2 * site.frees >= site.allocations;
    if (works) bytes += site.bytes_allocated;
  }
  return bytes;
}

class Planner {
 public:
  Planner(const Trace& trace, const StepMarks& wanted, const LedgerOptions& replay, uint64_t window_bytes,
          PassPlan* passes, KeptSearch* kept)
      : trace_(trace),
        wanted_(wanted),
        replay_(replay),
        window_bytes_(window_bytes),
        passes_(passes),
        kept_(kept),
        found_(trace, kept != nullptr ? &kept->marks : nullptr) {}

  StepPlan Run() {
    if (!wanted_.any() && wanted_.source != StepSource::kPeriodicity) {
      PlanWanted();
      return std::move(plan_);
    }
    StepChoice choice;
    if (wanted_.any()) choice = ChooseSteps(found_.candidates(), found_.clock());
    if (IsEnough(choice)) {
      Use(choice);
      return std::move(plan_);
    }
    if (wanted_.any()) PlanByOptimizerAllocations();
    if (plan_.has_steps()) return std::move(plan_);
    PlanByStream(std::move(choice));
    return std::move(plan_);
  }

 private:
  bool IsEnough(const StepChoice& choice) const {
    if (choice.coverage < kCovers) return false;
    return std::all_of(choice.phases.begin(), choice.phases.end(), [&](const ChosenPhase& phase) {
      return phase.kind != ChosenPhase::Kind::kSteps ||
             found_.candidates()[phase.candidate].trust < MarkTrust::kPeriodicity;
    });
  }

  // One source only, whatever it covers.
  void PlanWanted() {
    const std::string& name = wanted_.name;
    std::vector<StepCandidate> of_source;
    std::vector<size_t> indices;
    for (size_t i = 0; i < found_.candidates().size(); ++i) {
      const StepCandidate& candidate = found_.candidates()[i];
      if (candidate.source != wanted_.source) continue;
      if (!name.empty() && candidate.name != name && candidate.name != MarkScan::WithoutNumbers(name)) continue;
      of_source.push_back(candidate);
      indices.push_back(i);
    }
    if (of_source.empty()) {
      if (wanted_.source == StepSource::kOptimizer) PlanByOptimizerAllocations();
      return;
    }
    const StepChoice choice = ChooseSteps(of_source, found_.clock());
    size_t best = 0;
    double covered = -1;
    for (const ChosenPhase& phase : choice.phases) {
      if (phase.kind == ChosenPhase::Kind::kSteps && phase.coverage > covered) {
        covered = phase.coverage;
        best = phase.candidate;
      }
    }
    if (covered < 0) {
      // Too few for a choice, or too far apart: the one with most marks is what was asked for.
      for (size_t i = 1; i < of_source.size(); ++i) {
        if (of_source[i].times.size() > of_source[best].times.size()) best = i;
      }
      covered = 0;
    }
    TakeWhole(indices[best], std::max(covered, choice.coverage));
  }

  // All marks of one candidate, and what is before and after them belongs to the first and the last step.
  void TakeWhole(size_t candidate, double coverage) {
    plan_.source = found_.candidates()[candidate].source;
    plan_.name = found_.candidates()[candidate].name;
    plan_.coverage = plan_.judged = coverage;
    // With too few marks for a choice the coverage is 0.
    if (coverage > 0) plan_.judged = std::max(coverage, JudgedShare(found_.candidates()[candidate].times));
    plan_.mark_slot = found_.StepsOfOneThread(candidate);
    if (!plan_.mark_slot.is_none()) return;
    PickMarks(candidate, 0, found_.marks(candidate).size(), 0);
    SortMarks();
  }

  // When these marks come, by the run's work and by its active time, 0 to 1.
  std::pair<std::vector<double>, std::vector<double>> SharesAt(const std::vector<uint64_t>& times) const {
    std::vector<double> work, time;
    for (const uint64_t at : times) {
      work.push_back(found_.clock().Work(at));
      time.push_back(found_.clock().Time(at));
    }
    return {std::move(work), std::move(time)};
  }

  double JudgedShare(const std::vector<uint64_t>& times) const {
    const auto [work, time] = SharesAt(times);
    return std::min(JudgedShareOf(work, 0, 1), JudgedShareOf(time, 0, 1));
  }

  // The share of the run that steps which begin at these times cover.
  double CoveredBy(const std::vector<uint64_t>& times) const {
    const auto [work, time] = SharesAt(times);
    return (CoverageOf(work, 0, 1) + CoverageOf(time, 0, 1)) / 2;
  }

  void PlanByOptimizerAllocations() {
    if (found_.optimizer_entries().size() < kMinSteps) return;
    const double coverage = CoveredBy(found_.optimizer_entries());
    if (wanted_.any() && coverage < kCovers) return;
    plan_.coverage = plan_.judged = coverage;
    plan_.source = StepSource::kOptimizer;
    plan_.inside = found_.in_optimizer();
    plan_.at_inside = true;
  }

  void PickMarks(size_t candidate, size_t first, size_t end, uint32_t phase) {
    if (plan_.marks.size() < trace_.threads().size()) plan_.marks.resize(trace_.threads().size());
    for (size_t i = first; i < end; ++i) {
      const StepCandidates::Mark& mark = found_.marks(candidate)[i];
      plan_.marks[mark.slot].push_back({mark.ordinal, phase});
    }
  }

  // Each mark ends a step once. Where two phases meet at a mark the later one begins.
  void SortMarks() {
    for (std::vector<StepPlan::MarkEnd>& marks : plan_.marks) {
      std::stable_sort(marks.begin(), marks.end(),
                       [](const StepPlan::MarkEnd& a, const StepPlan::MarkEnd& b) { return a.mark < b.mark; });
      std::vector<StepPlan::MarkEnd> unique;
      for (const StepPlan::MarkEnd& end : marks) {
        if (!unique.empty() && unique.back().mark == end.mark) {
          unique.back().phase = end.phase;
        } else {
          unique.push_back(end);
        }
      }
      marks = std::move(unique);
    }
    std::stable_sort(plan_.cuts.begin(), plan_.cuts.end(),
                     [](const StepPlan::Cut& a, const StepPlan::Cut& b) { return a.time < b.time; });
  }

  // The training comes first, and what follows has steps too: one period across both would hide where it ends.
  bool TrainsFirst(const StepChoice& choice) const {
    std::vector<MarkTrust> trusts;
    for (const ChosenPhase& phase : choice.phases) {
      if (phase.kind == ChosenPhase::Kind::kSteps) trusts.push_back(found_.candidates()[phase.candidate].trust);
    }
    return choice.coverage >= kCovers && trusts.size() > 1 && trusts.front() <= MarkTrust::kAnyOptimizer;
  }

  // The only phase that has steps, where nothing else is judged; null if there is none or several. What is before and
  // after it belongs to the first and the last step, as where it begins may hang on how fast the machine was.
  const ChosenPhase* OnlySteps(const StepChoice& choice) const {
    const ChosenPhase* only = nullptr;
    for (const ChosenPhase& phase : choice.phases) {
      if (phase.kind == ChosenPhase::Kind::kUnjudged) continue;
      if (only != nullptr || phase.kind != ChosenPhase::Kind::kSteps) return nullptr;
      only = &phase;
    }
    return only;
  }

  void Use(const StepChoice& choice) {
    if (choice.phases.empty()) return;
    if (choice.runner_up) {
      const StepCandidate& second = found_.candidates()[*choice.runner_up];
      plan_.runner_up = second.name.empty() ? NameOf(second.source) : second.name;
      plan_.runner_up_count = second.times.size();
    }
    if (const ChosenPhase* only = OnlySteps(choice)) {
      if (only->first_mark == 0 && only->end_mark == found_.marks(only->candidate).size()) {
        return TakeWhole(only->candidate, choice.coverage);
      }
    }
    plan_.coverage = choice.coverage;
    plan_.judged = choice.judged;
    LayPhases(choice);
  }

  // A mark ends a step: the first step of a phase is the one that its first mark begins. Where a candidate marks the
  // ends of steps, the first of them is lost to the part before; that is one step of many.
  void LayPhases(const StepChoice& choice) {
    double most = -1;
    for (uint32_t i = 0; i < choice.phases.size(); ++i) {
      const ChosenPhase& chosen = choice.phases[i];
      PlannedPhase phase;
      phase.coverage = chosen.coverage;
      phase.share = chosen.share();
      switch (chosen.kind) {
        case ChosenPhase::Kind::kSteps: {
          const StepCandidate& candidate = found_.candidates()[chosen.candidate];
          phase.source = candidate.source;
          phase.name = candidate.name;
          if (chosen.coverage > most) {
            most = chosen.coverage;
            plan_.source = candidate.source;
            plan_.name = candidate.name;
          }
          PickMarks(chosen.candidate, chosen.first_mark, chosen.end_mark, i);
          break;
        }
        case ChosenPhase::Kind::kWindows:
          phase.kind = PlannedPhase::Kind::kWindows;
          EnterAt(chosen, choice, i);
          for (const uint64_t cut : chosen.cuts) plan_.cuts.push_back({cut, i});
          break;
        case ChosenPhase::Kind::kUnjudged:
          phase.kind = PlannedPhase::Kind::kUnjudged;
          EnterAt(chosen, choice, i);
          break;
      }
      plan_.phases.push_back(std::move(phase));
    }
    SortMarks();
  }

  // What follows steps begins with their last mark; what begins the run needs no mark.
  void EnterAt(const ChosenPhase& chosen, const StepChoice& choice, uint32_t index) {
    if (index == 0) return;
    const ChosenPhase& before = choice.phases[index - 1];
    if (before.kind == ChosenPhase::Kind::kSteps) {
      PickMarks(before.candidate, before.end_mark - 1, before.end_mark, index);
    } else {
      plan_.cuts.push_back({chosen.begin, index});
    }
  }

  // Goes on with `*replay`, if it is there and can go on, and makes a new one otherwise.
  StreamReplay& Stream(std::unique_ptr<StreamReplay>* replay) const {
    if (*replay == nullptr || !(*replay)->Continue()) {
      *replay = std::make_unique<StreamReplay>(trace_, replay_);
      if (kept_ != nullptr) (*replay)->KeepPlace();
    }
    (*replay)->Replay();
    return **replay;
  }

  // From the order of allocations, which takes a replay. `choice`: what the marks tell, as far as they do.
  void PlanByStream(StepChoice choice) {
    if (passes_ != nullptr) passes_->Begin(Pass::kStream);
    std::unique_ptr<StreamReplay> own;
    StreamReplay& stream = Stream(kept_ != nullptr ? &kept_->stream : &own);
    const Ledger& ledger = stream.ledger();
    const std::vector<GapFamily> families = stream.gaps().Families();
    const GapFamily* steps = RegularGaps::StepsOf(families);
    if (steps != nullptr && wanted_.any() && !Works(ledger, *steps)) steps = nullptr;
    if (steps != nullptr && wanted_.any()) {
      std::vector<uint64_t> loops;
      for (const GapFamily& family : families) loops.push_back(family.occurrences);
      found_.Confirm(loops);
      const StepChoice confirmed = ChooseSteps(found_.candidates(), found_.clock());
      if (IsEnough(confirmed)) return Use(confirmed);
    }
    if (steps != nullptr && wanted_.any() && TrainsFirst(choice)) return Use(choice);
    if (steps != nullptr) {
      plan_.source = StepSource::kPeriodicity;
      plan_.anchor_site = SiteIndex(steps->anchor);
      plan_.outer = LoopsAround(*steps, families);
      return;
    }
    if (!wanted_.any()) return;
    const bool any_steps = std::any_of(choice.phases.begin(), choice.phases.end(), [](const ChosenPhase& phase) {
      return phase.kind == ChosenPhase::Kind::kSteps;
    });
    if (any_steps) return Use(choice);
    if (PlanByCells()) return;
    PlanWindows(ledger);
    if (!plan_.windows) TakeFewMarks();
    if (!plan_.has_steps()) PlanRoughWindows(ledger);
  }

  // Where nothing else tells, each cell of a notebook is a step.
  bool PlanByCells() {
    const std::vector<uint64_t>& cells = found_.cell_entries();
    if (cells.size() < kMinSteps) return false;
    plan_.source = StepSource::kCells;
    plan_.coverage = plan_.judged = CoveredBy(cells);
    for (size_t i = 1; i < cells.size(); ++i) plan_.cuts.push_back({cells[i], 0});
    return true;
  }

  // Too few calls of vramtrack_step to tell anything from, but nothing else is known either.
  void TakeFewMarks() {
    for (size_t i = 0; i < found_.candidates().size(); ++i) {
      if (found_.candidates()[i].trust == MarkTrust::kStepCall) return TakeWhole(i, 0);
    }
  }

  void PlanWindows(const Ledger& ledger) {
    const uint64_t bytes = WorkBytes(ledger);
    WindowLimits limits = kWindows;
    if (window_bytes_ != 0) limits.most = static_cast<size_t>(std::min<uint64_t>(bytes / window_bytes_ + 1, 1u << 20));
    TakeWindows(limits, bytes);
  }

  // Of whatever is allocated, to see who grows.
  void PlanRoughWindows(const Ledger& ledger) {
    uint64_t bytes = 0, allocations = 0;
    for (const Site& site : ledger.sites()) {
      bytes += IsSegmentSite(site) ? 0 : site.bytes_allocated;
      allocations += site.allocations;
    }
    WindowLimits limits = kRoughWindows;
    limits.most = static_cast<size_t>(std::min<uint64_t>(limits.most, allocations / kInRoughWindow));
    TakeWindows(limits, bytes);
    plan_.rough = plan_.windows;
  }

  // `bytes`: what is allocated in all windows.
  void TakeWindows(const WindowLimits& limits, uint64_t bytes) {
    const RunClock& clock = found_.clock();
    const std::vector<uint64_t> cuts = CutIntoWindows(clock, clock.begin(), clock.end(), limits);
    if (cuts.empty() || bytes < cuts.size() + 1) return;
    plan_.windows = true;
    plan_.window_bytes = window_bytes_ != 0 ? window_bytes_ : bytes / (cuts.size() + 1);
    for (const uint64_t cut : cuts) plan_.cuts.push_back({cut, 0});
    plan_.cuts.push_back({clock.end(), 0});
    plan_.coverage = 0;
  }

  const Trace& trace_;
  const StepMarks& wanted_;
  const LedgerOptions& replay_;
  const uint64_t window_bytes_;
  PassPlan* const passes_;
  KeptSearch* const kept_;
  StepCandidates found_;
  StepPlan plan_;
};

}  // namespace

StepPlan PlanSteps(const Trace& trace, const StepMarks& wanted, const LedgerOptions& replay, uint64_t window_bytes,
                   PassPlan* passes, KeptSearch* kept) {
  if (wanted.none()) return {};
  if (passes != nullptr) passes->Begin(Pass::kMarks);
  return Planner(trace, wanted, replay, window_bytes, passes, kept).Run();
}

}  // namespace vramtrack
