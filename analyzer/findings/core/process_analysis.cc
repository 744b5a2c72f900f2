// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/process_analysis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/core/site_groups.h"
#include "analyzer/findings/core/step_plan.h"
#include "analyzer/leaks/posterior.h"
#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {
namespace {

RunShape ShapeOfRun(const Ledger& ledger, const SiteHistories& histories, const std::vector<RunPhase>& phases) {
  RunShape run;
  run.windows = ledger.steps().plan().has_windows();
  run.steps = ledger.steps().step();
  run.warmup_end = WarmupEnd(run.steps, StructureSettled(histories.step_similarities()));
  run.step_numbers = ledger.steps().numbers();
  for (const RunPhase& phase : phases) {
    // What goes on at the end of the run is what growth is about.
    if (phase.kind != PlannedPhase::Kind::kUnjudged) run.warmup_end = phase.warmup_end;
  }
  return run;
}

// What is alive at the end may be but the latest of what a site makes and drops all the time.
bool IsKept(const SiteHistory& history, const Site& site) {
  constexpr uint64_t kDrops = 4;
  if (history.born_objects == 0) return site.live_objects > 0;
  return history.live_objects() > 0 && history.died_objects < kDrops * history.live_objects();
}

std::optional<ActivityJoin> JoinActivities(const Trace& trace, PassPlan* passes) {
  std::optional<ActivityJoin> join;
  if (trace.activities().empty()) return join;
  passes->Begin(Pass::kActivities);
  join.emplace(trace);
  return join;
}

}  // namespace

LedgerOptions ProcessAnalysis::replay_options() const {
  LedgerOptions replay;
  if (options_.progress != nullptr) replay.replayed = &options_.progress->events;
  if (activities_) replay.unseen = &activities_->unseen();
  return replay;
}

ProcessAnalysis::ProcessAnalysis(const Trace& trace, const AnalyzeOptions& options)
    : ProcessAnalysis(trace, options, KeptReplays()) {}

ProcessAnalysis::ProcessAnalysis(const Trace& trace, const AnalyzeOptions& options, KeptReplays kept)
    : trace_(trace),
      options_(options),
      step_marks_(ParseStepMarks(options.step_marks).value_or(StepMarks())),
      passes_(trace, step_marks_, options.progress, options.passes),
      activities_(JoinActivities(trace, &passes_)),
      search_(std::move(kept.search)),
      symbols_(options.symbols),
      symbolizer_(trace.definitions(), &symbols_, StackDetail::kUseful, Libraries()),
      raw_(trace.definitions(), &symbols_, StackDetail::kRaw, Libraries()) {
  MakeFirstReplay(std::move(kept.sites));
  JudgeSites();
}

void ProcessAnalysis::MakeFirstReplay(std::unique_ptr<SiteReplay> before) {
  StepPlan plan = PlanSteps(trace_, step_marks_, replay_options(), options_.window_bytes, &passes_,
                            options_.follow ? &search_ : nullptr);
  passes_.Begin(Pass::kSites);
  if (before != nullptr && before->Continue(plan)) {
    replay_ = std::move(before);
  } else {
    replay_ = std::make_unique<SiteReplay>(trace_, std::move(plan), replay_options());
    if (options_.follow) replay_->KeepPlace();
  }
  replay_->Replay();
}

ReplayedRun ProcessAnalysis::replayed() {
  return {trace_,
          ledger(),
          histories(),
          growth(),
          order(),
          replay_->gathered(),
          walks(),
          walked_blocks(),
          activities_ ? &activities_->unseen() : nullptr,
          &symbolizer_,
          &raw_,
          options_.horizon_steps,
          options_.prior,
          options_.without_fact};
}

void ProcessAnalysis::JudgeSites() {
  const std::vector<float>& similarities = histories().step_similarities();
  run_phases_ = PhasesOf(ledger().steps(), similarities);
  run_ = ShapeOfRun(ledger(), histories(), run_phases_);
  frameworks_ = GrowthOfFrameworks(ledger(), run_);
  run_verdicts_ = JudgeRun(
      replayed(), run_phases_.empty() ? std::vector<RunPhase>{WholeRun(ledger().steps(), similarities)} : run_phases_);
  JudgeSegments();
  const SameSites same = SitesThatLookTheSame(ledger(), &symbolizer_);
  SiteGroups groups = SelectSites(ledger(), failures().all(), verdicts(), same, options_.top, &symbolizer_);
  groups_ = std::move(groups.reported);
  other_groups_ = std::move(groups.others);
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (const SiteIndex site : groups_[i].sites) group_of_site_[site] = i;
  }
}

// Segments that an allocator requests and does not need are fragmentation. The others hold blocks, which are judged.
void ProcessAnalysis::JudgeSegments() {
  constexpr uint64_t kFewestSteps = 4;
  for (const SiteIndex i : ledger().sites().indices()) {
    const Site& site = ledger().sites()[i];
    if (!IsSegmentSite(site) || IsGraphPool(site.key.kind) || IsAddressSpace(site.key.kind)) continue;
    const auto framework = frameworks_.find(site.key.device);
    if (framework != frameworks_.end() && framework->second.needs_segments()) continue;
    const Evidence evidence = EvidenceOfSurvivors(histories().history(i), run_.steps);
    if (!evidence.any() || TotalOf(evidence.left).steps < kFewestSteps || JudgeEvidence(evidence).is_clean()) continue;
    run_verdicts_.sites[i].verdict = Verdict::kFragmentationGrowth;
  }
}

const BlameFinder& ProcessAnalysis::blame() {
  // Reading debug information for more clean sites would take long.
  constexpr size_t kMaxCleanSites = 4000;
  if (blame_) return *blame_;
  blame_.emplace();
  const Sites& sites = ledger().sites();
  // What else is allocated at a leak's own place tells nothing apart, least of all the segments that its blocks lie in.
  std::set<StackIndex> stacks_of_leaks;
  for (const SiteGroup& group : groups_) {
    if (!IsLeak(verdicts()[group.sites[0]].verdict)) continue;
    blame_->AddLeak(group.frames);
    for (const SiteIndex site : group.sites) stacks_of_leaks.insert(sites[site].key.stack);
  }
  if (stacks_of_leaks.empty()) return *blame_;
  size_t compared = 0;
  for (const SiteIndex i : sites.indices()) {
    if (compared == kMaxCleanSites) break;
    if (IsLeak(verdicts()[i].verdict) || verdicts()[i].verdict == Verdict::kInsufficientEvidence) continue;
    if (IsSegmentSite(sites[i]) || stacks_of_leaks.count(sites[i].key.stack) != 0) continue;
    ++compared;
    blame_->AddClean(symbolizer_.Reader(sites[i].key.stack));
  }
  return *blame_;
}

std::vector<std::string> ProcessAnalysis::Libraries() const {
  return activities_ ? activities_->unseen().libraries : std::vector<std::string>();
}

Purpose ProcessAnalysis::Decide(SiteIndex index, bool sizes) {
  const Site& site = ledger().sites()[index];
  const SiteHistory history = histories().history(index);
  const SitePhases::Counts phases = replay_->phases().Of(index);
  SiteLifetime lifetime;
  lifetime.in_steps = ledger().steps().step() > 0;
  lifetime.kept = IsKept(history, site);
  lifetime.across_steps = history.live_objects() > 0 || site.live_objects > 0 || !history.deaths.empty() ||
                          history.max_completed_lifetime_steps > 0;
  lifetime.into_backward = phases.freed > 0 && 2 * phases.into_backward > phases.freed;
  lifetime.into_optimizer = phases.freed > 0 && 2 * phases.into_optimizer > phases.freed;
  lifetime.as_parameters = sizes && lifetime.kept && phases.after_backward && IsLikeParameters(history);
  const StackIndex stack = site.key.stack;
  const std::vector<ReportFrame>& frames = raw_.Frames(stack);
  Purpose purpose = vramtrack::PurposeOf(TraitsOf(frames, trace_.definitions().stacks.Get(stack).node), lifetime,
                                         IsHostMemory(site.key.kind));
  options_.categories.Apply(frames, &purpose);
  return purpose;
}

void ProcessAnalysis::FindSizesOfParameters(const std::vector<SiteIndex>& sites) {
  for (const SiteIndex site : sites) {
    if (PurposeOf(site).inferred != vramtrack::Category::kParameters) continue;
    const SiteHistory history = histories().history(site);
    parameter_objects_ += history.live_objects();
    parameter_bytes_ += history.live_bytes();
  }
  for (const SiteIndex site : sites) purposes_[site] = Decide(site, /*sizes=*/true);
}

// One object for each parameter, of one, two, a half or twice the bytes: moments, in the parameters' own precision or
// another. Allocators round, and some parameters may be frozen.
bool ProcessAnalysis::IsLikeParameters(const SiteHistory& history) const {
  constexpr double kSame = 0.02;
  if (parameter_objects_ < 2) return false;
  const double objects = static_cast<double>(history.live_objects()) / static_cast<double>(parameter_objects_);
  const double bytes = static_cast<double>(history.live_bytes()) / static_cast<double>(parameter_bytes_);
  for (const double copies : {1.0, 2.0}) {
    if (std::fabs(objects - copies) > kSame * copies) continue;
    for (const double width : {0.5, 1.0, 2.0}) {
      if (std::fabs(bytes - copies * width) <= kSame * copies * width) return true;
    }
  }
  return false;
}

const Purpose& ProcessAnalysis::PurposeOf(SiteIndex site) {
  const auto [found, is_new] = purposes_.try_emplace(site);
  if (is_new) found->second = Decide(site, parameter_objects_ > 0);
  return found->second;
}

std::string ProcessAnalysis::Category(SiteIndex site) {
  const Site& known = ledger().sites()[site];
  if (LevelOf(known) == Level::kHandle) return "handle";
  if (IsGraphPool(known.key.kind)) return "graph_pool";
  if (IsSegmentSite(known)) return "segment";
  return options_.categories.Name(PurposeOf(site).category);
}

uint32_t ProcessAnalysis::ScopeOf(const std::vector<size_t>& groups) const {
  uint32_t found = Site::kNoScope;
  for (const size_t group : groups) {
    for (const SiteIndex site : groups_[group].sites) {
      const uint32_t scope = ledger().sites()[site].scope;
      if (scope == Site::kNoScope) continue;
      if (ledger().scopes()[scope].is_leading()) return scope;
      if (found == Site::kNoScope) found = scope;
    }
  }
  return found;
}

}  // namespace vramtrack
