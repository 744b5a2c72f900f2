// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_PROCESS_ANALYSIS_H_
#define ANALYZER_FINDINGS_CORE_PROCESS_ANALYSIS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/attribution/blame.h"
#include "analyzer/attribution/category.h"
#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/cupti/activity_join.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/findings/core/replays.h"
#include "analyzer/findings/core/site_groups.h"
#include "analyzer/findings/core/step_marks.h"
#include "analyzer/findings/core/step_plan.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/symbols/symbolizer.h"
#include "analyzer/verdicts/run_verdicts.h"

namespace vramtrack {

using SitePurposes = IndexedVector<SiteIndex, Purpose>;

// The replays of an earlier reading of a trace, which may go on with a later one. Each may be null.
struct KeptReplays {
  KeptSearch search;
  std::unique_ptr<SiteReplay> sites;
};

// The state of one trace after its first replay. Findings are made from it directly, or by observers of a second
// replay. Not movable, as its parts refer to each other. Thread-compatible.
class ProcessAnalysis {
 public:
  // Finds the steps, replays the trace, judges its sites and selects those to report. `trace` and the pointers of
  // `options` must outlive it.
  ProcessAnalysis(const Trace& trace, const AnalyzeOptions& options);
  // Goes on with the replays of an earlier reading of the trace that are there and can go on; makes new ones otherwise.
  // TakeReplays() returns them when the analysis is not needed any more.
  ProcessAnalysis(const Trace& trace, const AnalyzeOptions& options, KeptReplays kept);
  KeptReplays TakeReplays() { return {std::move(search_), std::move(replay_)}; }
  ProcessAnalysis(const ProcessAnalysis&) = delete;
  ProcessAnalysis& operator=(const ProcessAnalysis&) = delete;

  static constexpr size_t kNoGroup = SIZE_MAX;

  const Trace& trace() const { return trace_; }
  const AnalyzeOptions& options() const { return options_; }
  // Returns the options that all replays of the trace share.
  LedgerOptions replay_options() const;
  // Returns the passes over the trace, made and planned.
  PassPlan& passes() { return passes_; }
  // Returns what CUPTI's records add to the hooked events; null if there are no records.
  const ActivityJoin* activities() const { return activities_ ? &*activities_ : nullptr; }
  // Returns whether the site is memory that a library allocated without a hooked call, as CUPTI reported.
  bool IsUnseen(const Site& site) const { return activities_ && activities_->unseen().Has(site.key); }
  const StepPlan& plan() const { return ledger().steps().plan(); }
  // Return the ledger and the observers of the first replay, after that replay.
  const Ledger& ledger() const { return replay_->ledger(); }
  const SiteHistories& histories() const { return replay_->histories(); }
  const SiteOrder& order() const { return replay_->order(); }
  const LevelTimeline& timeline() const { return replay_->timeline(); }
  const FailureLog& failures() const { return replay_->failures(); }
  const FrameworkCheck& framework_check() const { return replay_->framework_check(); }
  const HolderWalks& walks() const { return replay_->walks(); }
  const WalkedBlocks& walked_blocks() const { return replay_->walked_blocks(); }
  const RunShape& run() const { return run_; }
  // Returns the phases of the run; empty if all steps are of one kind.
  const std::vector<RunPhase>& phases() const { return run_phases_; }
  // Returns the phase that the verdict on a site is about; null without phases.
  const RunPhase* PhaseOf(SiteIndex site) const {
    const LineVerdict* line = LineOf(site);
    return run_phases_.empty() || line == nullptr ? nullptr : &run_phases_[line->phase];
  }
  const std::map<DeviceIndex, FrameworkGrowth>& frameworks() const { return frameworks_; }
  // Returns what the verdicts are made from. Its parts must not outlive this object.
  ReplayedRun replayed();
  const GrowthLedger& growth() const { return replay_->growth(); }
  const RunVerdicts& run_verdicts() const { return run_verdicts_; }
  const SiteVerdicts& verdicts() const { return run_verdicts_.sites; }
  // Returns the verdict on the line that a site belongs to; null if the site never kept anything.
  const LineVerdict* LineOf(SiteIndex site) const {
    const uint32_t line = run_verdicts_.sites[site].line;
    return line == UINT32_MAX ? nullptr : &run_verdicts_.lines[line];
  }
  const std::vector<SiteGroup>& groups() const { return groups_; }  // sites to report, in the order of SelectSites
  // Returns all other sites, joined if they look the same. They are counted but not reported.
  const std::vector<SiteGroup>& other_groups() const { return other_groups_; }
  // Returns the index of the total that figures of these groups at the peak are about: the one that the device's
  // figures are taken from, if they have memory in it, and Site::kNoScope for handles. What a library allocates at a
  // leak's line is in another one.
  uint32_t ScopeOf(const std::vector<size_t>& groups) const;
  // Returns the index of the group that has this site; kNoGroup if none has.
  size_t GroupOf(SiteIndex site) const {
    const auto found = group_of_site_.find(site);
    return found == group_of_site_.end() ? kNoGroup : found->second;
  }

  const Symbolizer& symbols() const { return symbols_; }
  StackSymbolizer& symbolizer() { return symbolizer_; }  // useful frames only; findings are made with these
  StackSymbolizer& raw() { return raw_; }                // all frames
  // Returns the symbolizer with the frames that the report shows.
  StackSymbolizer& shown() { return options_.stacks == StackDetail::kRaw ? raw_ : symbolizer_; }
  // Returns what tells the frames of leaks from those that clean sites go through as well.
  const BlameFinder& blame();
  // Returns what a site's memory is for, see attribution/category.h. Symbolizes the site's stack at the first call.
  const Purpose& PurposeOf(SiteIndex site);
  // Determines the purpose of these sites again, using the sizes of parameters: a site may hold copies of parameters.
  void FindSizesOfParameters(const std::vector<SiteIndex>& sites);
  // Returns the name of the site's category; "segment" or "handle" for sites that have no memory of their own.
  std::string Category(SiteIndex site);

 private:
  void MakeFirstReplay(std::unique_ptr<SiteReplay> before);
  void JudgeSites();
  std::vector<std::string> Libraries() const;  // the libraries whose allocations only CUPTI saw
  void JudgeSegments();
  Purpose Decide(SiteIndex site, bool sizes);
  bool IsLikeParameters(const SiteHistory& history) const;

  const Trace& trace_;
  const AnalyzeOptions& options_;
  const StepMarks step_marks_;
  PassPlan passes_;
  std::optional<ActivityJoin> activities_;
  KeptSearch search_;  // empty unless the replays are to go on
  std::unique_ptr<SiteReplay> replay_;
  std::vector<RunPhase> run_phases_;
  RunShape run_;
  std::map<DeviceIndex, FrameworkGrowth> frameworks_;
  RunVerdicts run_verdicts_;
  Symbolizer symbols_;
  StackSymbolizer symbolizer_, raw_;
  std::vector<SiteGroup> groups_, other_groups_;
  std::map<SiteIndex, size_t> group_of_site_;
  std::optional<BlameFinder> blame_;
  std::map<SiteIndex, Purpose> purposes_;
  uint64_t parameter_objects_ = 0, parameter_bytes_ = 0;  // parameters allocated in complete steps and kept
};

// Returns the site of the findings that describes this group of ProcessAnalysis::groups(); none for kNoGroup.
inline ReportSiteIndex ListedSite(size_t group) {
  return group == ProcessAnalysis::kNoGroup ? ReportSiteIndex() : ReportSiteIndex(static_cast<uint32_t>(group));
}

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PROCESS_ANALYSIS_H_
