// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/process_analysis.h"

#include <algorithm>

#include "analyzer/findings/device_findings.h"
#include "analyzer/findings/step_plan.h"
#include "analyzer/findings/trace_warnings.h"
#include "analyzer/leaks/lost_frees.h"
#include "analyzer/leaks/windows.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {
namespace {

RunShape ShapeOfRun(const Ledger& ledger, uint64_t device_total_bytes, uint64_t horizon_steps) {
  RunShape run;
  run.horizon_steps = horizon_steps;
  run.windows = ledger.steps().plan().has_windows();
  run.steps = ledger.steps().step();
  run.warmup_end = WarmupEnd(run.steps, StructureSettled(ledger.step_similarities()));
  run.device_total_bytes = device_total_bytes;
  run.step_numbers = ledger.steps().numbers();
  return run;
}

std::vector<LeakVerdict> Judge(const Trace& trace, const Ledger& ledger,
                               const std::map<uint32_t, FrameworkGrowth>& frameworks, uint64_t horizon_steps) {
  const std::vector<Site>& sites = ledger.sites();
  std::map<uint32_t, RunShape> shapes;
  std::vector<LeakVerdict> verdicts;
  const double lost_share = LostShare(trace, ledger);
  for (uint32_t i = 0; i < sites.size(); ++i) {
    const uint32_t device = sites[i].key.device;
    auto [shape, is_new] = shapes.try_emplace(device);
    if (is_new) shape->second = ShapeOfRun(ledger, DeviceTotalBytes(trace, ledger, device), horizon_steps);
    SiteContext context;
    if (IsSegmentSite(sites[i])) {
      const auto framework = frameworks.find(device);
      context.segments = framework != frameworks.end() && framework->second.live ? SegmentRole::kFrameworkGrowing
                                                                                 : SegmentRole::kFrameworkFlat;
    }
    const SiteHistory history = ledger.history(i);
    verdicts.push_back(JudgeSite(history, shape->second, context));
    DoubtWhatLossesExplain(history, lost_share, &verdicts.back());
  }
  DemoteChanceFindings(&verdicts);
  return verdicts;
}

Purpose PurposeOfSite(const Trace& trace, const Ledger& ledger, uint32_t index, StackSymbolizer* raw) {
  const Site& site = ledger.sites()[index];
  const SiteHistory history = ledger.history(index);
  SiteLifetime lifetime;
  lifetime.in_steps = ledger.steps().step() > 0;
  lifetime.kept = history.live_objects() > 0 || site.live_objects > 0;
  lifetime.across_steps = std::max(history.max_completed_lifetime_steps, history.max_setup_lifetime_steps) > 0;
  const uint32_t stack = site.key.stack;
  return PurposeOf(TraitsOf(raw->Frames(stack), trace.definitions().stacks.Get(stack).node), lifetime,
                   IsHostMemory(site.key.kind));
}

}  // namespace

LedgerOptions ReplayOptions(const AnalyzeOptions& options) {
  LedgerOptions replay;
  replay.decode_ahead = options.threads != 1;
  if (options.progress != nullptr) replay.replayed = &options.progress->events;
  return replay;
}

ProcessAnalysis::ProcessAnalysis(const Trace& trace, const AnalyzeOptions& options)
    : trace_(trace),
      options_(options),
      ledger_(trace, PlanSteps(trace, options.step_marks, ReplayOptions(options)), ReplayOptions(options)),
      symbols_(options.symbols),
      symbolizer_(trace.definitions(), &symbols_, options.stacks),
      raw_(trace.definitions(), &symbols_, StackDetail::kRaw) {
  ledger_.Replay();
  run_ = ShapeOfRun(ledger_, 0, options.horizon_steps);
  frameworks_ = GrowthOfFrameworks(ledger_, run_);
  verdicts_ = Judge(trace, ledger_, frameworks_, options.horizon_steps);
  groups_ = SelectSites(ledger_, verdicts_, options.top, &symbolizer_);
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (const uint32_t site : groups_[i].sites) group_of_site_[site] = i;
  }
}

const Purpose& ProcessAnalysis::PurposeOf(uint32_t site) {
  const auto [found, is_new] = purposes_.try_emplace(site);
  if (is_new) found->second = PurposeOfSite(trace_, ledger_, site, &raw_);
  return found->second;
}

std::string ProcessAnalysis::Category(uint32_t site) {
  const Site& known = ledger_.sites()[site];
  if (LevelOf(known.key.kind) == Level::kHandle) return "handle";
  if (IsSegmentSite(known)) return "segment";
  return CategoryName(PurposeOf(site).category);
}

}  // namespace vramtrack
