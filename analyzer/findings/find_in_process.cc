// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/find_in_process.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "analyzer/findings/core/activity_findings.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/context_findings.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/growth_findings.h"
#include "analyzer/findings/core/process_description.h"
#include "analyzer/findings/core/trace_warnings.h"
#include "analyzer/findings/fragmentation/fragmentation_collectors.h"
#include "analyzer/findings/holders/holder_findings.h"
#include "analyzer/findings/leaks/leak_findings.h"
#include "analyzer/findings/peaks/peak_collectors.h"
#include "analyzer/findings/site_findings.h"

namespace vramtrack {
namespace {

using OwnCollectors = std::vector<std::unique_ptr<Collector>>;

bool RemovesMappings(const Ledger& ledger) {
  return std::any_of(ledger.sites().begin(), ledger.sites().end(),
                     [](const Site& site) { return site.key.kind == schema::MAPPING && site.frees > 0; });
}

// In the order in which they describe: later ones add to what earlier ones have found. `replay`: whether there is a
// replay to follow; without one, only some know anything.
OwnCollectors Collectors(ProcessAnalysis* analysis, const SitePurposes& purposes, bool replay) {
  const Trace& trace = analysis->trace();
  OwnCollectors collectors;
  collectors.push_back(MakeSiteFindings(analysis));
  collectors.push_back(MakeLeakFindings(analysis));
  if (replay) collectors.push_back(MakePeakLines(analysis, purposes));
  collectors.push_back(MakeDeviceFindings(*analysis));
  if (!replay) return collectors;
  collectors.push_back(MakeValueFindings(*analysis));
  if (analysis->activities() != nullptr) collectors.push_back(MakeActivityFindings(*analysis));
  collectors.push_back(MakePeakFindings(*analysis, purposes));
  collectors.push_back(MakeTimelineFindings(*analysis, purposes));
  collectors.push_back(MakeOomFindings(analysis, purposes));
  collectors.push_back(MakeSegmentFindings(analysis));
  if (trace.framework_devices() != 0) collectors.push_back(MakeReleaseFindings(analysis));
  collectors.push_back(MakePoolFindings(*analysis));
  collectors.push_back(MakeContextFindings(analysis));
  if (RemovesMappings(analysis->ledger())) collectors.push_back(MakeSleepFindings(analysis));
  collectors.push_back(MakeLateFindings(*analysis, purposes));
  if (!trace.definitions().names.empty()) collectors.push_back(MakeRangeFindings(analysis));
  if (!trace.holder_walks().empty()) collectors.push_back(MakeHolderFindings(analysis, purposes));
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
    DescribeGrowth(*analysis, &device);
    device.other_owners = OtherOwners(ledger, DeviceIndex(device.index), trace.definitions().AllocatorOn(device.index),
                                      analysis->symbolizer());
  }
  AddTraceWarnings(trace, ledger, analysis->failures(), &findings->warnings);
  AddRefusedFrees(ledger, &analysis->symbolizer(), &findings->warnings);
  AddDeviceWarnings(trace.path(), findings->devices, &findings->warnings);
  AddFrameworkRemarks(trace.path(), trace.definitions(), ledger, analysis->framework_check(), &findings->warnings);
  AddMissingWalkWarning(trace, &findings->warnings);
  AddModuleWarnings(analysis->symbols().Statuses(), &findings->warnings);
  DescribeOtherGrowth(*analysis, findings);
  DescribeReasons(analysis, findings);
}

}  // namespace

ProcessFindings FindInProcess(const Trace& trace, const AnalyzeOptions& options) {
  ProcessAnalysis analysis(trace, options);
  return FindInAnalysis(&analysis);
}

ProcessFindings FindInAnalysis(ProcessAnalysis* analysis, Collector* extra) {
  ProcessFindings findings = Begin(*analysis);
  const SitePurposes purposes = PurposesOfSites(analysis);
  const OwnCollectors own = Collectors(analysis, purposes, /*replay=*/true);
  std::vector<Collector*> collectors = Pointers(own);
  if (extra != nullptr) collectors.push_back(extra);
  Collect(analysis, collectors, &findings);
  Finish(analysis, &findings);
  for (ReportDevice& device : findings.devices) DescribeLimit(*analysis, findings.oom, &device);
  return findings;
}

ProcessFindings FindVerdicts(ProcessAnalysis* analysis) {
  ProcessFindings findings = Begin(*analysis);
  const SitePurposes purposes = PurposesOfSites(analysis);  // finds the sizes of parameters, too
  const OwnCollectors own = Collectors(analysis, purposes, /*replay=*/false);
  CollectWithoutReplay(Pointers(own), &findings);
  for (const OutOfMemory& failed : analysis->failures().all()) {
    findings.oom.push_back(DescribeOutOfMemory(analysis->trace(), analysis->ledger(), analysis->run(), failed));
  }
  Finish(analysis, &findings);
  return findings;
}

}  // namespace vramtrack
