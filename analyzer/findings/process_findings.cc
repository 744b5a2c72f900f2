// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/process_findings.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/attribution/blame.h"
#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/byte_count.h"
#include "analyzer/cupti/device_use.h"
#include "analyzer/findings/analysis_findings.h"
#include "analyzer/findings/core/activity_findings.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/growth_findings.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/findings/core/process_description.h"
#include "analyzer/findings/core/rate_units.h"
#include "analyzer/findings/core/trace_warnings.h"
#include "analyzer/findings/fragmentation/pool_findings.h"
#include "analyzer/findings/fragmentation/reserve_findings.h"
#include "analyzer/findings/fragmentation/segment_findings.h"
#include "analyzer/findings/leaks/kept_findings.h"
#include "analyzer/findings/leaks/leak_findings.h"
#include "analyzer/findings/peaks/composition_findings.h"
#include "analyzer/findings/peaks/oom_findings.h"
#include "analyzer/findings/peaks/pattern_findings.h"
#include "analyzer/findings/peaks/peak_findings.h"
#include "analyzer/findings/peaks/peak_lines.h"

namespace vramtrack {
namespace {

// Clean sites whose stacks are compared with those of leaks; reading debug information for more would take long.
constexpr size_t kMaxCleanSites = 4000;

// Tells the frames of leaks from those that clean sites go through as well.
void FindBlame(const Ledger& ledger, const std::vector<LeakVerdict>& verdicts, const std::vector<SiteGroup>& groups,
               StackSymbolizer* symbolizer, BlameFinder* blame) {
  const std::vector<Site>& sites = ledger.sites();
  // What else is allocated at a leak's own place tells nothing apart, least of all the segments that its blocks lie in.
  std::set<uint32_t> stacks_of_leaks;
  for (const SiteGroup& group : groups) {
    if (!IsLeak(verdicts[group.sites[0]].verdict)) continue;
    blame->AddLeak(group.frames);
    for (const uint32_t site : group.sites) stacks_of_leaks.insert(sites[site].key.stack);
  }
  if (stacks_of_leaks.empty()) return;
  size_t compared = 0;
  for (uint32_t i = 0; i < sites.size() && compared < kMaxCleanSites; ++i) {
    if (IsLeak(verdicts[i].verdict) || verdicts[i].verdict == Verdict::kInsufficientEvidence) continue;
    if (IsSegmentSite(sites[i]) || stacks_of_leaks.count(sites[i].key.stack) != 0) continue;
    ++compared;
    blame->AddClean(symbolizer->Reader(sites[i].key.stack));
  }
}

ReportSite DescribeGroup(ProcessAnalysis& analysis, const SiteGroup& group) {
  const Ledger& ledger = analysis.ledger();
  const std::vector<LeakVerdict>& verdicts = analysis.verdicts();
  const Site& first = ledger.sites()[group.sites[0]];
  const LeakVerdict& verdict = verdicts[group.sites[0]];
  const Level level = LevelOf(first.key.kind);
  ReportSite site;
  site.level = LevelName(level);
  site.kind = KindName(first.key.kind);
  site.owner = analysis.symbolizer().Owner(first.key.stack);
  site.category = analysis.Category(group.sites[0]);
  site.verdict = ToString(verdict.verdict);
  site.grade = level == Level::kHandle ? "" : LevelName(level);
  site.explanation = verdict.explanation;
  if (analysis.IsUnseen(first)) AddWhoSawIt(&site);
  const auto framework = analysis.frameworks().find(first.key.device);
  if (level == Level::kFramework && IsLeak(verdict.verdict) && framework != analysis.frameworks().end()) {
    AddDriverEvidence(framework->second, analysis.plan().window_bytes, &site);
  }
  if (IsLeak(verdict.verdict)) AddPoolRemark(ledger, first.key, &analysis.symbolizer(), &site);
  if (first.key.device != SiteKey::kHost) site.device = first.key.device;
  if (verdict.onset_step) site.onset_step = static_cast<int64_t>(analysis.run().NumberOf(*verdict.onset_step));
  // None: no number of them would do.
  if (verdict.verdict == Verdict::kInsufficientEvidence && verdict.further_steps_needed > 0) {
    site.further_steps_needed = verdict.further_steps_needed;
  }
  site.frames = group.frames;
  const RunPhase* phase = analysis.PhaseOf(group.sites[0]);
  site.step_name = phase != nullptr ? analysis.plan().phases[phase->plan].name : analysis.plan().name;
  for (const uint32_t index : group.sites) {
    const Site& one = ledger.sites()[index];
    site.allocations += one.allocations;
    site.frees += one.frees;
    site.bytes_allocated += one.bytes_allocated;
    site.live_objects += one.live_objects;
    site.live_bytes += one.live_bytes;
    site.bytes_at_peak += one.bytes_at_peak;
    site.rate_bytes_per_step += verdicts[index].rate_bytes_per_step;
    site.rate_objects_per_step += verdicts[index].rate_objects_per_step;
    site.rate_ci_low += verdicts[index].rate_ci_low;
    site.rate_ci_high += verdicts[index].rate_ci_high;
  }
  return site;
}

// Fewer objects than this are one-offs.
constexpr uint64_t kKeptObjects = 4;

// Of objects that were made where no steps are known, how many stayed: in windows, or where nothing could be judged.
// What comes before the first step is set-up.
uint64_t KeptWithoutSteps(const ProcessAnalysis& analysis, uint32_t site) {
  constexpr double kShareThatMatters = 0.05;
  uint64_t objects = 0;
  const SiteHistory history = analysis.ledger().history(site);
  for (const RunPhase& phase : analysis.phases()) {
    if (phase.kind == PlannedPhase::Kind::kSteps || !phase.follows || phase.share < kShareThatMatters) continue;
    for (const Cohort& cohort : history.cohorts) {
      if (cohort.step >= phase.steps.begin && cohort.step < phase.steps.end) objects += cohort.live_objects;
    }
  }
  return objects;
}

size_t SitesThatKept(const ProcessAnalysis& analysis) {
  size_t kept = 0;
  for (size_t i = 0; i < analysis.verdicts().size(); ++i) {
    const LeakVerdict& verdict = analysis.verdicts()[i];
    if (IsLeak(verdict.verdict) || IsSegmentSite(analysis.ledger().sites()[i])) continue;
    if (verdict.verdict == Verdict::kInsufficientEvidence) continue;
    const bool stopped = verdict.verdict == Verdict::kOneTime || verdict.verdict == Verdict::kSublinear;
    if (analysis.plan().has_windows()) {
      kept += stopped && verdict.evidence.survivors.objects >= kKeptObjects;
    } else if (!analysis.phases().empty()) {
      kept += KeptWithoutSteps(analysis, static_cast<uint32_t>(i)) >= kKeptObjects;
    }
  }
  return kept;
}

// A part of a run that is not judged does not matter while it is smaller than the rest.
constexpr double kLeastJudged = 0.5;
// Fewer steps than this are too few, whatever they cover.
constexpr uint64_t kFewSteps = 10;

// `kept`: how many sites that do not leak kept something that was made where no steps are known.
std::vector<std::string> WhatIsUnsure(const ProcessFindings& findings, size_t kept) {
  std::vector<std::string> unsure;
  if (findings.steps.count == 0) return unsure;
  const bool too_few = findings.steps.count < kFewSteps && findings.further_steps_needed;
  if (findings.steps.judged < kLeastJudged && !too_few) {
    unsure.push_back(absl::StrFormat("the %s cover only %.0f %% of the run: a leak in the rest would not be seen",
                                     findings.steps.unit == "step" ? "steps that were found" : "windows",
                                     100 * findings.steps.judged));
  }
  if (kept > 0) {
    unsure.push_back(
        absl::StrCat(kept, kept == 1 ? " site" : " sites",
                     " kept what was allocated where no steps were found: call vramtrack_step() once a step"));
  }
  for (const ReportDevice& device : findings.devices) {
    if (device.unexplained_growth <= 0) continue;
    unsure.push_back(absl::StrCat("live bytes of device ", device.index, " grow by ",
                                  FormatByteCount(device.unexplained_growth),
                                  " per step that no allocation site explains"));
  }
  return unsure;
}

// Of all sites, reported or not. Sites in one group are one to the reader.
void CountVerdicts(const ProcessAnalysis& analysis, ProcessFindings* findings) {
  for (const std::vector<SiteGroup>* groups : {&analysis.groups(), &analysis.other_groups()}) {
    for (const SiteGroup& group : *groups) {
      const LeakVerdict& verdict = analysis.verdicts()[group.sites[0]];
      ++findings->verdict_counts[ToString(verdict.verdict)];
      if (verdict.verdict != Verdict::kInsufficientEvidence || verdict.further_steps_needed == 0) continue;
      findings->further_steps_needed =
          std::max<uint64_t>(findings->further_steps_needed.value_or(0), verdict.further_steps_needed);
    }
  }
}

}  // namespace

ProcessFindings FindInProcess(const Trace& trace, const AnalyzeOptions& options) {
  ProcessAnalysis analysis(trace, options);
  return FindInAnalysis(&analysis);
}

ProcessFindings FindInAnalysis(ProcessAnalysis* of_process) {
  ProcessAnalysis& analysis = *of_process;
  const Trace& trace = analysis.trace();
  const Ledger& ledger = analysis.ledger();
  const RunShape& run = analysis.run();
  const std::vector<LeakVerdict>& verdicts = analysis.verdicts();
  const std::vector<SiteGroup>& groups = analysis.groups();
  StackSymbolizer& symbolizer = analysis.symbolizer();
  BlameFinder blame;
  FindBlame(ledger, verdicts, groups, &symbolizer, &blame);

  LeakFindings leaks(&analysis);
  LedgerOptions without = analysis.replay_options();
  without.histories = without.timeline = false;
  for (const SiteGroup& group : groups) without.watched.push_back(group.sites);
  leaks.Prepare(&without);
  const std::vector<LargestTogether> largest = LargestGroups(analysis);
  const size_t first_of_largest = without.watched.size();
  for (const LargestTogether& together : largest) without.watched.push_back(SitesOf(analysis, together));
  for (const Scope& scope : ledger.scopes()) {
    if (scope.is_leading() && scope.peak > 0) without.peak_changes[scope.device] = scope.peak_change;
  }
  const std::vector<Purpose> purposes = PurposesOfSites(&analysis);
  PeakLines peak_lines(&analysis, purposes);
  peak_lines.Prepare(&without);
  std::vector<Category> category_of_site;
  std::vector<bool> in_optimizer;
  for (const Purpose& purpose : purposes) {
    category_of_site.push_back(purpose.category);
    in_optimizer.push_back(purpose.in_optimizer);
  }
  CategoryTimeline category_timeline(ledger, category_of_site, trace.clock().start_ticks());
  CompositionTimeline composition(ledger, category_of_site, CompositionSites(analysis), trace.clock().start_ticks());
  StepCurve step_curve(ledger);
  PeakLiveSet peak_live_set(without.peak_changes);
  const std::map<uint32_t, ReserveGrowth> growing = GrowthOfReserves(analysis);
  std::map<uint32_t, uint32_t> growing_since;
  for (const auto& [device, growth] : growing) growing_since[device] = growth.first;
  torch_allocator::PeakSegments segments(ledger, growing_since);
  RecordRequests(analysis, &segments);
  if (segments.has_devices()) without.observers.push_back(&segments);
  MemoryPools memory_pools;
  without.observers.push_back(&memory_pools);
  OomStudy oom_study(ledger, AskingSites(trace, ledger));
  LateObjects late_objects(LateGroups(analysis, purposes), in_optimizer);
  ReusableMemory reusable(ScopesOfDriver(ledger));
  for (ReplayObserver* observer : std::initializer_list<ReplayObserver*>{
           &category_timeline, &composition, &step_curve, &peak_live_set, &oom_study, &late_objects, &reusable}) {
    without.observers.push_back(observer);
  }
  std::optional<DeviceUse> use;
  if (!trace.activities().empty()) without.observers.push_back(&use.emplace(trace, SitesToFollow(analysis)));
  Ledger second(trace, analysis.plan(), without);
  second.Replay();

  ProcessFindings findings;
  for (size_t i = 0; i < groups.size(); ++i) {
    ReportSite site = DescribeGroup(analysis, groups[i]);
    site.peak_without_site = second.counterfactual().PeakWithout(i);
    if (IsLeak(verdicts[groups[i].sites[0]].verdict)) site.blame_frame = blame.Blame(groups[i].frames);
    site.own_frame = OwnFrame(site.frames);
    if (analysis.options().stacks == StackDetail::kRaw) {
      site.raw_frames = analysis.raw().Frames(ledger.sites()[groups[i].sites[0]].key.stack);
    }
    findings.sites.push_back(std::move(site));
  }
  leaks.Describe(second, &findings.sites);
  DescribeKept(analysis, &findings.sites);
  SetRateUnits(analysis, &findings.sites);
  findings.peak_lines = peak_lines.Describe(second, findings.sites);
  findings.peak_stacks = DescribePeakStacks(analysis, findings.sites);
  CountVerdicts(analysis, &findings);
  findings.process = DescribeProcess(trace, ledger);
  findings.steps = DescribeSteps(ledger);
  findings.devices = DescribeDevices(trace, ledger, run, second.peak_windows());
  if (analysis.activities() != nullptr) {
    findings.process.activities = DescribeActivities(trace, *analysis.activities());
    DescribeUnseen(analysis, &findings.devices);
    use->Finish();
    DescribeUse(analysis, *use, &findings.devices, &findings.sites);
  }
  DescribePeaks(ledger, purposes, peak_live_set, &findings.devices);
  for (size_t i = 0; i < largest.size(); ++i) {
    for (ReportDevice& device : findings.devices) {
      if (device.index != largest[i].device) continue;
      ReportPeakWithout several;
      for (const size_t group : largest[i].groups) several.sites.push_back(absl::StrCat(group));
      several.peak = second.counterfactual().PeakWithout(first_of_largest + i);
      device.peak_set.without.push_back(std::move(several));
    }
  }
  findings.timeline = DescribeTimeline(trace, ledger, run);
  AddCategories(ledger, category_timeline, &findings.timeline);
  AddCompositions(analysis, composition, &findings.timeline);
  AddStepCurves(analysis, step_curve, &findings.timeline);
  for (size_t i = 0; i < ledger.out_of_memory().size(); ++i) {
    const OutOfMemory& failed = ledger.out_of_memory()[i];
    ReportOom oom = DescribeOutOfMemory(trace, ledger, run, failed);
    oom.stack = analysis.shown().Frames(failed.stack);
    DescribeHolders(analysis, purposes, failed, oom_study.findings()[i], &oom);
    findings.oom.push_back(std::move(oom));
  }
  if (segments.has_devices()) DescribeSegments(&analysis, &segments, growing, &findings.devices, &findings.oom);
  DescribeMemoryPools(analysis, &memory_pools, &findings.devices);
  DescribePatterns(analysis, purposes, late_objects, reusable, &findings.devices);
  for (ReportDevice& device : findings.devices) {
    // Growth is per step.
    if (!analysis.plan().has_windows()) DescribeGrowth(analysis, &device);
    device.other_owners = OtherOwners(ledger, device.index, symbolizer);
  }
  for (const auto& [stack, releases] : ledger.releases().by_stack()) {
    ReportRelease release{releases.calls, releases.segments, releases.bytes, releases.least, releases.most, {}, {}};
    for (const Releases::Call& call : releases.times) {
      release.times.push_back({ReportedStep(run, call.step), trace.clock().Seconds(call.ticks), call.bytes});
    }
    release.stack = analysis.shown().Frames(stack);
    findings.releases.push_back(std::move(release));
  }
  AddTraceWarnings(trace, ledger, &findings.warnings);
  AddDeviceWarnings(trace.path(), findings.devices, &findings.warnings);
  AddFrameworkRemarks(trace.path(), ledger, &findings.warnings);
  AddModuleWarnings(analysis.symbols(), &findings.warnings);
  findings.unsure = WhatIsUnsure(findings, SitesThatKept(analysis));
  return findings;
}

}  // namespace vramtrack
