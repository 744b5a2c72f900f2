// SPDX-License-Identifier: Apache-2.0
#include "analyzer/summary/process_summary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/job/rank_findings.h"
#include "analyzer/model/coarser.h"
#include "analyzer/profile/make_step_profile.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

struct Limits {
  size_t timeline_bins, kept_points, release_calls;
  bool peak_steps, compositions;
  size_t windows, profile_sites;  // see StepProfile
};
// By Detail.
constexpr Limits kLimits[] = {
    {SIZE_MAX, SIZE_MAX, SIZE_MAX, true, true, StepProfile::kMostWindows, StepProfile::kMostSites},
    {512, 128, 32, false, true, 32, 500},
    {kMostCurveBins, 16, 0, false, false, 16, 32},
};

void HalveTimeline(ReportTimeline* timeline) {
  // What live memory consists of is that of the higher bin.
  const auto higher = [of = timeline->live.high](size_t a, size_t b) { return of[b] > of[a] ? b : a; };
  for (auto& [name, bytes] : timeline->at_high.categories) Halve(&bytes, higher);
  for (auto& [site, bytes] : timeline->at_high.sites) Halve(&bytes, higher);
  Halve(&timeline->at_high.other_sites, higher);
  HalvePositions(&timeline->position);
  for (ReportTimeline::Series* series : {&timeline->device_used, &timeline->reserved, &timeline->live}) {
    HalveSeries(series);
  }
  for (auto& [name, series] : timeline->categories) HalveSeries(&series);
}

// Sums up to a step: those of the later one.
void HalveKept(ReportKept* kept) {
  const auto later = [](size_t, size_t b) { return b; };
  Halve(&kept->step, later);
  Halve(&kept->bytes, later);
  Halve(&kept->objects, later);
}

}  // namespace

Detail DetailNamed(const std::string& name) {
  return name == "fleet" ? Detail::kFleet : name == "job" ? Detail::kJob : Detail::kFull;
}

void ReduceTo(Detail detail, ProcessSummary* process) {
  const Limits& limits = kLimits[static_cast<size_t>(detail)];
  Reduce(limits.windows, limits.profile_sites, &process->profile);
  ProcessFindings& findings = process->findings;
  for (ReportTimeline& timeline : findings.timeline) {
    while (timeline.position.size() > limits.timeline_bins) HalveTimeline(&timeline);
    if (!limits.peak_steps) {
      timeline.peak_step.reset();
      timeline.within_steps.reset();
    }
    if (!limits.compositions) timeline.at_high = {};
  }
  for (ReportSite& site : findings.sites) {
    while (site.kept && site.kept->step.size() > limits.kept_points) HalveKept(&*site.kept);
  }
  for (ReportRelease& release : findings.releases) {
    if (release.times.size() > limits.release_calls) release.times.resize(limits.release_calls);
  }
}

absl::StatusOr<ProcessSummary> SummarizeProcess(const std::string& path, const AnalyzeOptions& options) {
  const absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
  if (!trace.ok()) return trace.status();
  const TracedProcess& process = (*trace)->definitions().process;
  ProcessSummary summary;
  summary.identity = {process.host, (*trace)->clock().start_realtime_ns(), process.pid};
  summary.tool_version = kToolVersion;
  ProcessAnalysis analysis(**trace, options);
  summary.profile = DescribeRun(&analysis);
  ProfileMaker profile(&analysis, &summary.profile);
  summary.findings = FindInAnalysis(&analysis, &profile);
  return summary;
}

}  // namespace vramtrack
