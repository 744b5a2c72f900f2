// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/core/raw_frames.h"
#include "analyzer/job/rank_curves.h"
#include "analyzer/job/rank_findings.h"
#include "analyzer/job/rank_votes.h"
#include "analyzer/job/site_id.h"
#include "analyzer/model/oom_lines.h"

namespace vramtrack {
namespace {

// A job that runs out of memory does so in all of its ranks.
constexpr size_t kFailuresTold = 1000;

std::vector<JobProcess*> InOrder(std::deque<JobProcess>* processes) {
  std::vector<JobProcess*> ordered;
  for (JobProcess& process : *processes) ordered.push_back(&process);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const JobProcess* a, const JobProcess* b) { return IsBefore(*a, *b); });
  return ordered;
}

// Does not depend on the order of the processes.
bool MattersMore(const ReportHost& a, const ReportHost& b) {
  const auto rank = [](const ReportHost& host) {
    const double grows = host.resident.grows() ? host.resident.growth->bytes_per_step : 0;
    return std::make_tuple(grows, host.resident.peak, UINT32_MAX - host.pid);
  };
  return rank(a) > rank(b);
}

// Where all frames are to be shown: once the sites have their ids.
void ShowAllFrames(Report* report) {
  std::map<std::string, std::vector<uint64_t>> indices;
  for (ReportSite& site : report->sites) {
    if (site.raw_frames.empty()) continue;
    indices[site.id] = IndicesInRaw(site.frames, site.raw_frames);
    ShowRawFrames(&site);
  }
  for (ReportPeakStacks& stacks : report->peak_stacks) {
    for (ReportPeakStacks::Node& node : stacks.nodes) {
      const auto of_site = indices.find(node.site);
      if (of_site != indices.end() && node.frame < of_site->second.size()) node.frame = of_site->second[node.frame];
    }
  }
}

}  // namespace

void FindingsJoin::Add(ProcessFindings findings) {
  JobProcess& process = processes_.emplace_back();
  process.rank = DescribeRank(findings);
  process.curve = DescribeCurve(findings);
  process.process = std::move(findings.process);
  process.sites = sites_.Add(process, std::move(findings.sites));
  const SiteNamer joined = [&](size_t site) {
    return site < process.sites.size() ? absl::StrCat(process.sites[site].site) : "";
  };
  devices_.Add(process, joined, &findings);
  for (ReportOom& oom : findings.oom) {
    RenameSites(joined, &oom);
    oom.rank = process.process.rank;
    oom.pid = process.process.pid;
  }
  process.oom = std::move(findings.oom);
  failures_ += process.oom.size();
  failures_kept_ += process.oom.size();
  if (failures_kept_ > 2 * kFailuresTold) KeepFirstFailures();
  for (ReportWalk& walk : findings.walks) walk.pid = process.process.pid;
  process.walks = std::move(findings.walks);
  releases_.Add(process, std::move(findings.releases));
  warnings_.Add(process, std::move(findings.warnings));
  unsure_.Add(process, std::move(findings.unsure));
  for (const auto& [verdict, sites] : findings.verdict_counts) verdict_counts_[verdict] += sites;
  if (findings.further_steps_needed) {
    further_steps_needed_ = std::max(further_steps_needed_.value_or(0), *findings.further_steps_needed);
  }
  cards_.Add(process.process.pid, process.process.rank, std::move(findings.cards));
  if (findings.host && (!host_ || MattersMore(*findings.host, *host_))) host_ = std::move(findings.host);
  const uint64_t steps = findings.steps.count;
  if (steps > steps_.count || (steps > 0 && steps == steps_.count && IsBefore(process, *steps_of_))) {
    steps_ = std::move(findings.steps);
    steps_of_ = &process;
  }
}

void FindingsJoin::KeepFirstFailures() {
  failures_kept_ = 0;
  for (JobProcess* process : InOrder(&processes_)) {
    std::vector<ReportOom>& oom = process->oom;
    oom.erase(oom.begin() + static_cast<std::ptrdiff_t>(std::min(oom.size(), kFailuresTold - failures_kept_)),
              oom.end());
    failures_kept_ += oom.size();
  }
}

Report FindingsJoin::Finish() {
  KeepFirstFailures();
  const std::vector<JobProcess*> ordered = InOrder(&processes_);
  const std::vector<const JobProcess*> processes(ordered.begin(), ordered.end());
  const std::vector<const JobProcess*> ranks = ProcessesOfRanks(processes);
  Report report;
  report.sites = sites_.Finish(processes);
  DescribeAcross(ranks, sites_, &report.sites);
  std::vector<std::string> ids;
  for (const ReportSite& site : report.sites) ids.push_back(site.id);
  const SiteNamer id = [&](size_t site) { return ids[site]; };
  report.ranks = CompareRanks(ranks, ids, sites_.places());
  AddCurves(ranks, &report.ranks);
  for (const JobProcess* process : processes) {
    for (const ReportOom& oom : process->oom) RenameSites(id, &report.oom.emplace_back(oom));
    report.walks.insert(report.walks.end(), process->walks.begin(), process->walks.end());
    report.processes.push_back(process->process);
  }
  report.releases = releases_.Finish();
  report.steps = steps_;
  report.host = host_;
  report.cards = cards_.Finish();
  report.verdict_counts.assign(verdict_counts_.begin(), verdict_counts_.end());
  report.further_steps_needed = further_steps_needed_;
  report.warnings = warnings_.Finish();
  report.unsure = unsure_.Finish();
  if (failures_ > failures_kept_) {
    report.warnings.push_back(absl::StrCat(failures_,
                                           " allocations failed for lack of memory in the processes of the job; ",
                                           failures_kept_, " of them are shown, by rank"));
  }
  devices_.Finish(id, &report);
  ShowAllFrames(&report);
  std::sort(report.sites.begin(), report.sites.end(), IsWorse);
  for (const ReportSite& site : report.sites) {
    if (IsLeak(site) && site.part_of.empty()) report.ranking.push_back(site.id);
  }
  AnswerFailures(&report);
  return report;
}

Report JoinFindings(std::vector<ProcessFindings> processes) {
  FindingsJoin join;
  for (ProcessFindings& findings : processes) join.Add(std::move(findings));
  return join.Finish();
}

}  // namespace vramtrack
