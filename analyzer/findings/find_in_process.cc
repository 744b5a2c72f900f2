// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/find_in_process.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/activity_findings.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/growth_findings.h"
#include "analyzer/findings/core/machine_findings.h"
#include "analyzer/findings/core/process_description.h"
#include "analyzer/findings/core/range_findings.h"
#include "analyzer/findings/core/rising_steps.h"
#include "analyzer/findings/core/trace_warnings.h"
#include "analyzer/findings/core/unseen_blocks.h"
#include "analyzer/findings/fragmentation/pool_findings.h"
#include "analyzer/findings/fragmentation/release_findings.h"
#include "analyzer/findings/fragmentation/segment_findings.h"
#include "analyzer/findings/fragmentation/sleep_findings.h"
#include "analyzer/findings/holders/holder_findings.h"
#include "analyzer/findings/leaks/leak_findings.h"
#include "analyzer/findings/peaks/composition_findings.h"
#include "analyzer/findings/peaks/oom_findings.h"
#include "analyzer/findings/peaks/pattern_findings.h"
#include "analyzer/findings/peaks/peak_findings.h"
#include "analyzer/findings/peaks/peak_lines.h"
#include "analyzer/findings/peaks/value_findings.h"
#include "analyzer/findings/site_findings.h"
#include "analyzer/leaks/cohort.h"
#include "analyzer/steps/step_choice.h"

namespace vramtrack {
namespace {

// Of objects that were made where no steps are known, how many stayed: in windows, or where nothing could be judged.
// What comes before the first step is set-up.
uint64_t KeptWithoutSteps(const ProcessAnalysis& analysis, SiteIndex site) {
  constexpr double kShareThatMatters = 0.05;
  uint64_t objects = 0;
  const SiteHistory history = analysis.histories().history(site);
  for (const RunPhase& phase : analysis.phases()) {
    if (phase.kind == PlannedPhase::Kind::kSteps || !phase.follows || phase.share < kShareThatMatters) continue;
    for (const Cohort& cohort : history.cohorts) {
      if (cohort.step >= phase.steps.begin && cohort.step < phase.steps.end) objects += cohort.live_objects;
    }
  }
  return objects;
}

// How many sites that do not leak kept something that was made where no steps are known.
size_t SitesThatKept(const ProcessAnalysis& analysis) {
  size_t kept = 0;
  for (const SiteIndex i : analysis.verdicts().indices()) {
    const LeakVerdict& verdict = analysis.verdicts()[i];
    if (IsLeak(verdict.verdict) || IsSegmentSite(analysis.ledger().sites()[i])) continue;
    if (verdict.verdict == Verdict::kInsufficientEvidence) continue;
    const bool stopped = verdict.verdict == Verdict::kOneTime || verdict.verdict == Verdict::kSublinear;
    if (analysis.plan().has_windows()) {
      kept += stopped && verdict.evidence.survivors.objects >= kFewestRepeats;
    } else if (!analysis.phases().empty()) {
      kept += KeptWithoutSteps(analysis, i) >= kFewestRepeats;
    }
  }
  return kept;
}

// Why sites cannot be judged, each reason once; none if more steps would do.
std::vector<std::string> Doubts(const ProcessAnalysis& analysis, const ProcessFindings& findings) {
  std::vector<std::string> doubts;
  if (findings.further_steps_needed) return doubts;
  for (const LeakVerdict& verdict : analysis.verdicts()) {
    const bool known = std::find(doubts.begin(), doubts.end(), verdict.doubt) != doubts.end();
    if (verdict.verdict == Verdict::kInsufficientEvidence && !verdict.doubt.empty() && !known) {
      doubts.push_back(verdict.doubt);
    }
  }
  return doubts;
}

// Whether CUDA graphs were made after the last of few steps, and before it none.
bool StepsAreInGraphs(const ProcessAnalysis& analysis, const ProcessFindings& findings) {
  if (findings.steps.count >= kEnoughSteps) return false;
  bool made = false;
  for (const SiteIndex i : analysis.ledger().sites().indices()) {
    const Site& site = analysis.ledger().sites()[i];
    if (site.key.kind != schema::GRAPH_EXEC || site.allocations == 0) continue;
    if (analysis.run().steps > 0 && analysis.histories().history(i).born_objects > 0) return false;
    made = true;
  }
  return made;
}

// A part of a run that is not judged does not matter while it is smaller than the rest.
constexpr double kLeastJudged = 0.5;
// Fewer steps than this are too few, whatever they cover.
constexpr uint64_t kFewSteps = 10;

// `in_graphs`: StepsAreInGraphs.
std::vector<std::string> WhatIsUnsure(ProcessAnalysis* analysis, const ProcessFindings& findings, bool in_graphs) {
  const size_t kept = SitesThatKept(*analysis);
  std::vector<std::string> unsure = UnseenBlocks(analysis);
  for (std::string& doubt : Doubts(*analysis, findings)) unsure.push_back(std::move(doubt));
  if (in_graphs) {
    unsure.push_back(
        "after its last step the job made a CUDA graph, and steps that replay one are not seen, as they allocate "
        "nothing: call vramtrack_step(), or push an NVTX range, once a step");
  }
  if (findings.steps.count == 0) {
    if (const uint64_t rounds = analysis->plan().idle_rounds; rounds > 0) {
      unsure.push_back(
          absl::StrCat("the allocations repeat ", rounds,
                       " times and nothing is freed as often, which may be set-up; --step-marks periodicity "
                       "takes them as steps"));
    }
    return unsure;
  }
  const bool too_few = findings.steps.count < kFewSteps && findings.further_steps_needed;
  if (findings.steps.judged < kLeastJudged && !too_few) {
    unsure.push_back(absl::StrFormat("the %s cover only %.0f %% of the run: a leak in the rest would not be seen",
                                     findings.steps.unit == StepUnit::kStep ? "steps that were found" : "windows",
                                     100 * findings.steps.judged));
  }
  if (kept > 0) {
    unsure.push_back(
        absl::StrCat(kept, kept == 1 ? " site" : " sites",
                     " kept what was allocated where no steps were found: call vramtrack_step() once a step"));
  }
  for (const ReportDevice& device : findings.devices) {
    std::string rising = RisingSteps(analysis, DeviceIndex(device.index));
    if (!rising.empty()) unsure.push_back(std::move(rising));
    if (device.unexplained_growth <= 0) continue;
    unsure.push_back(absl::StrCat("live bytes of device ", device.index, " grow by ",
                                  FormatByteCount(device.unexplained_growth),
                                  " per step that no allocation site explains"));
  }
  return unsure;
}

using OwnCollectors = std::vector<std::unique_ptr<Collector>>;

// Those that know something without a replay of their own.
OwnCollectors CollectorsOfVerdicts(ProcessAnalysis* analysis) {
  OwnCollectors collectors;
  collectors.push_back(std::make_unique<SiteFindings>(analysis));
  collectors.push_back(std::make_unique<LeakFindings>(analysis));
  collectors.push_back(std::make_unique<DeviceFindings>(*analysis));
  return collectors;
}

// In the order in which they describe: later ones add to what earlier ones have found.
OwnCollectors Collectors(ProcessAnalysis* analysis, const SitePurposes& purposes) {
  OwnCollectors collectors;
  collectors.push_back(std::make_unique<SiteFindings>(analysis));
  collectors.push_back(std::make_unique<LeakFindings>(analysis));
  collectors.push_back(std::make_unique<PeakLines>(analysis, purposes));
  collectors.push_back(std::make_unique<DeviceFindings>(*analysis));
  collectors.push_back(std::make_unique<ValueFindings>(*analysis));
  if (analysis->activities() != nullptr) collectors.push_back(std::make_unique<ActivityFindings>(*analysis));
  collectors.push_back(std::make_unique<PeakFindings>(*analysis, purposes));
  collectors.push_back(std::make_unique<TimelineFindings>(*analysis, purposes));
  collectors.push_back(std::make_unique<OomFindings>(analysis, purposes));
  collectors.push_back(std::make_unique<SegmentFindings>(analysis));
  if (analysis->trace().framework_devices() != 0) collectors.push_back(std::make_unique<ReleaseFindings>(analysis));
  collectors.push_back(std::make_unique<PoolFindings>(*analysis));
  if (SleepFindings::AreDue(analysis->ledger())) collectors.push_back(std::make_unique<SleepFindings>(analysis));
  collectors.push_back(std::make_unique<PatternFindings>(*analysis, purposes));
  if (!analysis->trace().definitions().names.empty()) {
    collectors.push_back(std::make_unique<RangeFindings>(analysis));
  }
  if (!analysis->trace().holder_walks().empty()) {
    collectors.push_back(std::make_unique<HolderFindings>(analysis, purposes));
  }
  return collectors;
}

std::vector<Collector*> Pointers(const OwnCollectors& own) {
  std::vector<Collector*> collectors;
  for (const auto& collector : own) collectors.push_back(collector.get());
  return collectors;
}

ProcessFindings Begin(const ProcessAnalysis& analysis) {
  ProcessFindings findings;
  findings.process = DescribeProcess(analysis.trace(), analysis.ledger());
  findings.steps = DescribeSteps(analysis);
  findings.host = DescribeHost(analysis);
  findings.cards = DescribeCardUses(analysis);
  return findings;
}

void Finish(ProcessAnalysis* analysis, ProcessFindings* findings) {
  const Trace& trace = analysis->trace();
  const Ledger& ledger = analysis->ledger();
  for (ReportDevice& device : findings->devices) {
    // Growth is per step.
    if (!analysis->plan().has_windows()) DescribeGrowth(*analysis, &device);
    device.other_owners = OtherOwners(ledger, DeviceIndex(device.index), trace.definitions().AllocatorOn(device.index),
                                      analysis->symbolizer());
  }
  AddTraceWarnings(trace, ledger, analysis->failures(), &findings->warnings);
  AddDeviceWarnings(trace.path(), findings->devices, &findings->warnings);
  AddFrameworkRemarks(trace.path(), trace.definitions(), ledger, analysis->framework_check(), &findings->warnings);
  AddMissingWalkWarning(trace, &findings->warnings);
  AddModuleWarnings(analysis->symbols(), &findings->warnings);
  const bool in_graphs = StepsAreInGraphs(*analysis, *findings);
  // More of the steps that are seen do not come.
  if (in_graphs) findings->further_steps_needed.reset();
  findings->unsure = WhatIsUnsure(analysis, *findings, in_graphs);
}

}  // namespace

ProcessFindings FindInProcess(const Trace& trace, const AnalyzeOptions& options) {
  ProcessAnalysis analysis(trace, options);
  return FindInAnalysis(&analysis);
}

ProcessFindings FindInAnalysis(ProcessAnalysis* analysis, Collector* guest) {
  ProcessFindings findings = Begin(*analysis);
  const SitePurposes purposes = PurposesOfSites(analysis);
  const OwnCollectors own = Collectors(analysis, purposes);
  std::vector<Collector*> collectors = Pointers(own);
  if (guest != nullptr) collectors.push_back(guest);
  Collect(analysis, collectors, &findings);
  Finish(analysis, &findings);
  for (ReportDevice& device : findings.devices) DescribeLimit(*analysis, findings.oom, &device);
  return findings;
}

ProcessFindings FindVerdicts(ProcessAnalysis* analysis) {
  ProcessFindings findings = Begin(*analysis);
  PurposesOfSites(analysis);  // finds the sizes of parameters, by which optimizer state is known
  const OwnCollectors own = CollectorsOfVerdicts(analysis);
  CollectWithoutReplay(Pointers(own), &findings);
  for (const OutOfMemory& failed : analysis->failures().all()) {
    findings.oom.push_back(DescribeOutOfMemory(analysis->trace(), analysis->ledger(), analysis->run(), failed));
  }
  Finish(analysis, &findings);
  return findings;
}

}  // namespace vramtrack
