// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_PROCESS_ANALYSIS_H_
#define ANALYZER_FINDINGS_CORE_PROCESS_ANALYSIS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/cupti/activity_join.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/findings/core/phase_verdicts.h"
#include "analyzer/findings/core/site_selection.h"
#include "analyzer/fragmentation/framework_check.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/leaks/cohort.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/site_histories.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/peaks/site_phases.h"
#include "analyzer/peaks/timeline.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

using SitePurposes = IndexedVector<SiteIndex, Purpose>;

// What one trace has told after its first replay, and who can be asked about it: findings are made from this, by
// looking at it or by a second replay with observers. Not movable, as its parts refer to each other. Thread-compatible.
class ProcessAnalysis {
 public:
  // Finds the steps, replays the trace, judges its sites and selects those to report. Both must outlive it.
  ProcessAnalysis(const Trace& trace, const AnalyzeOptions& options);
  ProcessAnalysis(const ProcessAnalysis&) = delete;
  ProcessAnalysis& operator=(const ProcessAnalysis&) = delete;

  static constexpr size_t kNoGroup = SIZE_MAX;

  const Trace& trace() const { return trace_; }
  const AnalyzeOptions& options() const { return options_; }
  // How any replay of the trace is to go about it, apart from what it is to find.
  LedgerOptions replay_options() const;
  // The passes over the trace: those that were made, and those that are planned.
  PassPlan& passes() { return passes_; }
  // What CUPTI's records say beside the hooked events; null if there are none.
  const ActivityJoin* activities() const { return activities_ ? &*activities_ : nullptr; }
  // Whether the site stands for what a library took without any hooked call, as CUPTI tells.
  bool IsUnseen(const Site& site) const { return activities_ && activities_->unseen().Has(site.key); }
  const StepPlan& plan() const { return ledger_.steps().plan(); }
  // After the first replay: the ledger, and what followed it.
  const Ledger& ledger() const { return ledger_; }
  const SiteHistories& histories() const { return histories_; }
  const LevelTimeline& timeline() const { return timeline_; }
  const FailureLog& failures() const { return failures_; }
  const FrameworkCheck& framework_check() const { return framework_check_; }
  const RunShape& run() const { return run_; }  // its device_total_bytes is 0
  // The phases of the run; empty where all steps are of one kind.
  const std::vector<RunPhase>& phases() const { return run_phases_; }
  // Which of them the verdict on a site is about; null without phases.
  const RunPhase* PhaseOf(SiteIndex site) const {
    return run_phases_.empty() ? nullptr : &run_phases_[phase_of_site_[site]];
  }
  const std::map<DeviceIndex, FrameworkGrowth>& frameworks() const { return frameworks_; }
  // Of sites that are in no group without explanation and interval.
  const SiteVerdicts& verdicts() const { return verdicts_; }
  const std::vector<SiteGroup>& groups() const { return groups_; }  // the sites to report, as SelectSites has them
  // All further sites, also joined where they look the same: they are counted, but not reported.
  const std::vector<SiteGroup>& other_groups() const { return other_groups_; }
  size_t GroupOf(SiteIndex site) const {
    const auto found = group_of_site_.find(site);
    return found == group_of_site_.end() ? kNoGroup : found->second;
  }

  const Symbolizer& symbols() const { return symbols_; }
  StackSymbolizer& symbolizer() { return symbolizer_; }  // of useful frames: what is found is found in these
  StackSymbolizer& raw() { return raw_; }                // with all frames
  // As the report shows stacks.
  StackSymbolizer& shown() { return options_.stacks == StackDetail::kRaw ? raw_ : symbolizer_; }
  // What a site is for, see attribution/category.h. Symbolizes the site's stack the first time.
  const Purpose& PurposeOf(SiteIndex site);
  // Decides on these sites again with what their parameters' sizes tell: which others are copies of them.
  void FindSizesOfParameters(const std::vector<SiteIndex>& sites);
  // The name of that; "segment" and "handle" for what is no memory of its own.
  std::string Category(SiteIndex site);

 private:
  LedgerOptions FirstReplay();
  std::vector<std::string> Libraries() const;  // of what only CUPTI saw
  bool GraphsLeak() const;                     // whether ever more instantiated graphs are kept
  void DemoteChanceFindings();
  Purpose Decide(SiteIndex site, bool sizes);
  bool IsLikeParameters(const SiteHistory& history) const;

  const Trace& trace_;
  const AnalyzeOptions& options_;
  PassPlan passes_;
  std::optional<ActivityJoin> activities_;
  SiteHistories histories_;
  LevelTimeline timeline_;
  FailureLog failures_;
  FrameworkCheck framework_check_;
  SitePhases phases_;
  Ledger ledger_;
  std::vector<RunPhase> run_phases_;
  RunShape run_;
  std::map<DeviceIndex, FrameworkGrowth> frameworks_;
  SiteVerdicts verdicts_;
  IndexedVector<SiteIndex, size_t> phase_of_site_;
  Symbolizer symbols_;
  StackSymbolizer symbolizer_, raw_;
  std::vector<SiteGroup> groups_, other_groups_;
  std::map<SiteIndex, size_t> group_of_site_;
  std::map<SiteIndex, Purpose> purposes_;
  uint64_t parameter_objects_ = 0, parameter_bytes_ = 0;  // of complete steps, kept
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PROCESS_ANALYSIS_H_
