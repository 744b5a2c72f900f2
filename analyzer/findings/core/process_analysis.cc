// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/process_analysis.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/library_pool.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/ended_growth.h"
#include "analyzer/findings/core/line_verdicts.h"
#include "analyzer/findings/core/site_groups.h"
#include "analyzer/findings/core/step_plan.h"
#include "analyzer/findings/core/trace_warnings.h"
#include "analyzer/holders/site_holder.h"
#include "analyzer/leaks/growing_buffer.h"
#include "analyzer/leaks/lost_frees.h"
#include "analyzer/leaks/windows.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {
namespace {

RunShape ShapeOfRun(const Ledger& ledger, const SiteHistories& histories, const std::vector<RunPhase>& phases,
                    uint64_t device_total_bytes, uint64_t horizon_steps) {
  RunShape run;
  run.horizon_steps = horizon_steps;
  run.windows = ledger.steps().plan().has_windows();
  run.steps = ledger.steps().step();
  run.warmup_end = WarmupEnd(run.steps, StructureSettled(histories.step_similarities()));
  run.device_total_bytes = device_total_bytes;
  run.step_numbers = ledger.steps().numbers();
  for (const RunPhase& phase : phases) {
    // What goes on at the end of the run is what growth is about.
    if (phase.kind != PlannedPhase::Kind::kUnjudged) run.warmup_end = phase.warmup_end;
  }
  return run;
}

class SiteJudge {
 public:
  SiteJudge(const Trace& trace, const Ledger& ledger, const SiteHistories& histories,
            const std::vector<RunPhase>& phases, const std::map<DeviceIndex, FrameworkGrowth>& frameworks,
            const UnseenMemory* unseen, uint64_t horizon_steps, StackSymbolizer* symbolizer)
      : trace_(trace),
        ledger_(ledger),
        histories_(histories),
        phases_(phases),
        frameworks_(frameworks),
        unseen_(unseen),
        horizon_steps_(horizon_steps),
        symbolizer_(symbolizer),
        lost_share_(LostShare(trace, ledger)) {}

  // Segments of CUDA graphs' private pools are judged by themselves while ever more graphs are kept, which is why the
  // allocator cannot have them back. Otherwise they are segments as any others.
  void NoteGraphs(bool leak) { graphs_leak_ = leak; }

  // `phase`: which one the verdict is about, where the run has several.
  LeakVerdict Judge(SiteIndex index, JudgeDetail detail, size_t* phase) {
    return JudgeTogether({index}, detail, phase);
  }

  // The sites are one to the reader: what they did is judged as if one of them had done it all.
  LeakVerdict JudgeTogether(const std::vector<SiteIndex>& together, JudgeDetail detail, size_t* phase) {
    const Site& site = ledger_.sites()[together[0]];
    const DeviceIndex device = site.key.device;
    auto [shape, is_new] = shapes_.try_emplace(device);
    if (is_new) {
      shape->second =
          ShapeOfRun(ledger_, histories_, phases_, DeviceTotalBytes(trace_, ledger_, device), horizon_steps_);
    }
    SiteContext context;
    if (IsSegmentSite(site) && !(site.key.kind == schema::GRAPH_POOL && graphs_leak_)) {
      const auto framework = frameworks_.find(device);
      context.segments = framework != frameworks_.end() && framework->second.needs_segments()
                             ? SegmentRole::kFrameworkGrowing
                             : SegmentRole::kFrameworkFlat;
    }
    for (const SiteIndex one : together) context.allocations += ledger_.sites()[one].allocations;
    SiteHistory history = histories_.history(together[0]);
    size_t changes = histories_.level_changes(together[0]);
    for (size_t i = 1; i < together.size(); ++i) {
      history = Merged(history, histories_.history(together[i]));
      changes += histories_.level_changes(together[i]);
    }
    const bool handle = LevelOf(site) == Level::kHandle;  // bytes, if it has any, are of address space
    if (handle) history = WithoutBytes(std::move(history));
    LeakVerdict verdict;
    if (phases_.empty()) {
      verdict = JudgeSite(history, shape->second, context, detail);
    } else {
      PhaseVerdict of_phase = JudgeInPhases(history, shape->second, phases_, context, detail);
      verdict = std::move(of_phase.verdict);
      *phase = of_phase.phase;
    }
    if (!handle && EndsInSteps() && changes >= kFewestLevels && MayBeGrowingBuffer(verdict, context)) {
      StepLevels levels = histories_.levels(together[0]);
      for (size_t i = 1; i < together.size(); ++i) AddLevels(histories_.levels(together[i]), &levels);
      JudgeGrowingBuffer(levels, history, shape->second, context, &verdict);
      DoubtGrowthAfterTraining(levels, shape->second, phases_, &verdict);
      DoubtGrowthInOneLoop(phases_.empty() ? ledger_.steps().plan().source : SourceOf(phases_[*phase]), history,
                           shape->second.steps, &verdict);
    }
    verdict.evidence.joint = together.size() > 1;
    const bool is_unseen = unseen_ != nullptr && unseen_->Has(site.key);
    DoubtWhatLossesExplain(history, is_unseen ? unseen_->lost_share : lost_share_, &verdict);
    DoubtGrowthOfLibraryPool(site, &verdict);
    return verdict;
  }

  // Of growing buffers only those that do not grow with everything else.
  void DoubtGrowthWithInputs(SiteVerdicts* verdicts) const {
    std::map<DeviceIndex, std::vector<ObjectSizes>> regular;  // by device
    for (const SiteIndex i : verdicts->indices()) {
      LeakVerdict& verdict = (*verdicts)[i];
      if (verdict.evidence.buffer.trend == BufferTrend::kNone || !IsLeak(verdict.verdict)) continue;
      const DeviceIndex device = ledger_.sites()[i].key.device;
      const auto [sizes, is_new] = regular.try_emplace(device);
      if (is_new) sizes->second = RegularSizes(device, *verdicts);
      vramtrack::DoubtGrowthWithInputs(SizesOf(i), sizes->second, histories_.history(i), shapes_.at(device), &verdict);
    }
    // A smaller buffer that grows next to one in doubt is of the same inputs, or made from it.
    std::map<DeviceIndex, double> in_doubt;  // the largest rate
    for (const SiteIndex i : verdicts->indices()) {
      if (!(*verdicts)[i].evidence.buffer.with_inputs) continue;
      double& rate = in_doubt[ledger_.sites()[i].key.device];
      rate = std::max(rate, (*verdicts)[i].rate_bytes_per_step);
    }
    for (const SiteIndex i : verdicts->indices()) {
      LeakVerdict& verdict = (*verdicts)[i];
      const DeviceIndex device = ledger_.sites()[i].key.device;
      const auto found = in_doubt.find(device);
      if (found == in_doubt.end() || verdict.evidence.buffer.trend == BufferTrend::kNone || !IsLeak(verdict.verdict))
        continue;
      if (verdict.rate_bytes_per_step > found->second) continue;
      DoubtAsInputs(histories_.history(i), shapes_.at(device), &verdict);
    }
  }

  // If the job allocates a block after the last object of a site that is as large as all of them together, it puts
  // results together, as torch.cat() does. It needed them, so nobody can say that they leak.
  void DoubtGatheredResults(const GatheredResults& gathered, SiteVerdicts* verdicts) const {
    for (const SiteIndex i : verdicts->indices()) {
      LeakVerdict& verdict = (*verdicts)[i];
      if (!IsLeak(verdict.verdict) || verdict.evidence.buffer.trend != BufferTrend::kNone) continue;
      if (IsSegmentSite(ledger_.sites()[i]) || !gathered.Has(i)) continue;
      Doubt("a loop keeps results, and a block as large as all of them together was allocated after it", &verdict);
    }
  }

  // What a container keeps that says how much it takes, and has less, need not grow beyond that.
  void DoubtGrowthBelowLimit(const HolderWalks& walks, const WalkedBlocks& blocks, SiteVerdicts* verdicts) const {
    if (walks.all().empty()) return;
    for (const SiteIndex i : verdicts->indices()) {
      LeakVerdict& verdict = (*verdicts)[i];
      const Site& site = ledger_.sites()[i];
      if (!IsLeak(verdict.verdict) || verdict.evidence.buffer.trend != BufferTrend::kNone || IsSegmentSite(site))
        continue;
      const std::optional<SiteHolder> holder = HolderOf({i}, walks, blocks, /*leak=*/true);
      if (!holder) continue;
      const std::string why =
          WhyGrowthMayEnd(*holder, site.live_objects, DeviceTotalBytes(trace_, ledger_, site.key.device));
      if (!why.empty()) Doubt(why, &verdict);
    }
  }

 private:
  void DoubtGrowthOfLibraryPool(const Site& site, LeakVerdict* verdict) const {
    if (!IsLeak(verdict->verdict) || LevelOf(site) != Level::kDriver || IsSegmentSite(site)) return;
    // Of CUDA's own pools each allocation is seen.
    if (IsStreamOrdered(site.key.kind)) return;
    const LibraryPool* const pool = LibraryPoolOf(symbolizer_->Frames(site.key.stack));
    if (pool == nullptr) return;
    Doubt(absl::StrCat(pool->name, " takes more and more memory, and what it is for is not seen: ", pool->setting,
                       " to see its ", pool->blocks),
          verdict);
  }

  StepSource SourceOf(const RunPhase& phase) const { return ledger_.steps().plan().phases[phase.plan].source; }

  // A buffer has grown when its level changed so often.
  static constexpr size_t kFewestLevels = 3;

  // Growth by replacement is that of the last part of the run; before the first step it would be set-up.
  bool EndsInSteps() const {
    const auto last = std::find_if(phases_.rbegin(), phases_.rend(),
                                   [](const RunPhase& phase) { return phase.kind != PlannedPhase::Kind::kUnjudged; });
    return last == phases_.rend() || last->kind != PlannedPhase::Kind::kWindows;
  }

  ObjectSizes SizesOf(SiteIndex index) const {
    const Site& site = ledger_.sites()[index];
    return {SizeRatio(histories_.births(index)),
            static_cast<double>(site.bytes_allocated) / static_cast<double>(std::max<uint64_t>(1, site.allocations)),
            index.value(), NumberRatio(histories_.births(index))};
  }

  std::vector<ObjectSizes> RegularSizes(DeviceIndex device, const SiteVerdicts& verdicts) const {
    std::vector<ObjectSizes> sizes;
    for (const SiteIndex i : verdicts.indices()) {
      const Site& site = ledger_.sites()[i];
      if (site.key.device != device || IsSegmentSite(site) || site.bytes_allocated == 0) continue;
      if (verdicts[i].evidence.buffer.trend != BufferTrend::kNone) continue;
      if (2 * uint64_t{histories_.history(i).birth_steps} < ledger_.steps().step()) continue;
      sizes.push_back(SizesOf(i));
    }
    return sizes;
  }

  const Trace& trace_;
  const Ledger& ledger_;
  const SiteHistories& histories_;
  const std::vector<RunPhase>& phases_;
  const std::map<DeviceIndex, FrameworkGrowth>& frameworks_;
  const UnseenMemory* unseen_;
  uint64_t horizon_steps_;
  StackSymbolizer* symbolizer_;
  double lost_share_;
  bool graphs_leak_ = false;
  std::map<DeviceIndex, RunShape> shapes_;  // by device
};

// What is alive at the end may be but the latest of what a site makes and drops all the time.
bool IsKept(const SiteHistory& history, const Site& site) {
  constexpr uint64_t kDrops = 4;
  if (history.born_objects == 0) return site.live_objects > 0;
  return history.live_objects() > 0 && history.died_objects < kDrops * history.live_objects();
}

std::optional<ActivityJoin> JoinActivities(const Trace& trace, const AnalyzeOptions& options, PassPlan* passes) {
  std::optional<ActivityJoin> join;
  if (trace.activities().empty()) return join;
  passes->Begin(Pass::kActivities);
  join.emplace(trace, options.threads != 1);
  return join;
}

}  // namespace

LedgerOptions ProcessAnalysis::replay_options() const {
  LedgerOptions replay;
  replay.decode_ahead = options_.threads != 1;
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
      activities_(JoinActivities(trace, options, &passes_)),
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

void ProcessAnalysis::JudgeSites() {
  const Ledger& ledger = replay_->ledger();
  const SiteHistories& histories = replay_->histories();
  run_phases_ = PhasesOf(ledger.steps(), histories.step_similarities());
  run_ = ShapeOfRun(ledger, histories, run_phases_, 0, options_.horizon_steps);
  frameworks_ = GrowthOfFrameworks(ledger, run_);
  SiteJudge judge(trace_, ledger, histories, run_phases_, frameworks_, activities_ ? &activities_->unseen() : nullptr,
                  options_.horizon_steps, &raw_);
  verdicts_.reserve(ledger.sites().size());
  phase_of_site_.resize(ledger.sites().size());
  for (const SiteIndex i : ledger.sites().indices()) {
    verdicts_.push_back(judge.Judge(i, JudgeDetail::kVerdict, &phase_of_site_[i]));
  }
  if (GraphsLeak()) {
    judge.NoteGraphs(true);
    for (const SiteIndex i : ledger.sites().indices()) {
      if (ledger.sites()[i].key.kind != schema::GRAPH_POOL) continue;
      verdicts_[i] = judge.Judge(i, JudgeDetail::kVerdict, &phase_of_site_[i]);
    }
  }
  const SameSites same = SitesThatLookTheSame(ledger, &symbolizer_);
  for (const std::vector<SiteIndex>& together : SitesInOne(histories, ledger, same, verdicts_)) {
    size_t phase = 0;
    const LeakVerdict verdict = judge.JudgeTogether(together, JudgeDetail::kWhole, &phase);
    ShareVerdict(histories, ledger, together, verdict, &verdicts_);
    for (const SiteIndex site : together) phase_of_site_[site] = phase;
  }
  judge.DoubtGrowthWithInputs(&verdicts_);
  judge.DoubtGatheredResults(replay_->gathered(), &verdicts_);
  DoubtEndedGrowth({trace_, ledger, histories, order(), run_phases_, phase_of_site_}, &verdicts_);
  judge.DoubtGrowthBelowLimit(walks(), walked_blocks(), &verdicts_);
  DemoteChanceFindings();
  if (std::getenv("VRAMTRACK_RULES") == nullptr) {
    JudgeLines({trace_, ledger, histories, replay_->growth(), run_phases_, run_, &symbolizer_}, &verdicts_, &phase_of_site_);
  }
  SiteGroups groups = SelectSites(ledger, failures().all(), verdicts_, same, options_.top, &symbolizer_);
  groups_ = std::move(groups.reported);
  other_groups_ = std::move(groups.others);
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (const SiteIndex site : groups_[i].sites) {
      group_of_site_[site] = i;
      if (verdicts_[site].explanation.empty()) {
        verdicts_[site] = judge.Judge(site, JudgeDetail::kWhole, &phase_of_site_[site]);
      }
    }
  }
}

bool ProcessAnalysis::GraphsLeak() const {
  for (const SiteIndex i : ledger().sites().indices()) {
    if (ledger().sites()[i].key.kind == schema::GRAPH_EXEC && IsLeak(verdicts_[i].verdict)) return true;
  }
  return false;
}

std::vector<std::string> ProcessAnalysis::Libraries() const {
  return activities_ ? activities_->unseen().libraries : std::vector<std::string>();
}

// What the job's own sites are found to be does not depend on how many others are known.
void ProcessAnalysis::DemoteChanceFindings() {
  for (const bool unseen : {false, true}) {
    std::vector<SiteIndex> of;
    std::vector<LeakVerdict> verdicts;
    for (const SiteIndex i : verdicts_.indices()) {
      if (IsUnseen(ledger().sites()[i]) != unseen) continue;
      of.push_back(i);
      verdicts.push_back(std::move(verdicts_[i]));
    }
    vramtrack::DemoteChanceFindings(&verdicts);
    for (size_t i = 0; i < of.size(); ++i) verdicts_[of[i]] = std::move(verdicts[i]);
  }
}

Purpose ProcessAnalysis::Decide(SiteIndex index, bool sizes) {
  const Site& site = ledger().sites()[index];
  const SiteHistory history = histories().history(index);
  const SitePhases::Counts phases = replay_->phases().Of(index);
  SiteLifetime lifetime;
  lifetime.in_steps = ledger().steps().step() > 0;
  lifetime.kept = IsKept(history, site);
  lifetime.across_steps = history.live_objects() > 0 || site.live_objects > 0 ||
                          std::max(history.max_completed_lifetime_steps, history.max_setup_lifetime_steps) > 0;
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
  if (known.key.kind == schema::GRAPH_POOL) return "graph_pool";
  if (IsSegmentSite(known)) return "segment";
  return options_.categories.Name(PurposeOf(site).category);
}

}  // namespace vramtrack
