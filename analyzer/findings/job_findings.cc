// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/job_findings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/rank_findings.h"
#include "analyzer/findings/site_references.h"

namespace vramtrack {

void FindingsJoin::Add(ProcessFindings findings) {
  JobProcess process;
  process.rank = DescribeRank(findings);
  process.sites = sites_.Add(std::move(findings.sites));
  const SiteNamer joined = [&](size_t site) { return absl::StrCat(process.sites[site].site); };
  devices_.Add(joined, &findings);
  for (ReportOom& oom : findings.oom) RenameSites(joined, &oom);
  process.oom = std::move(findings.oom);
  process.releases = std::move(findings.releases);
  process.process = std::move(findings.process);
  for (const auto& [verdict, sites] : findings.verdict_counts) verdict_counts_[verdict] += sites;
  if (findings.steps.count > steps_.count) steps_ = findings.steps;
  for (std::string& warning : findings.warnings) {
    if (known_warnings_.insert(warning).second) warnings_.push_back(std::move(warning));
  }
  processes_.push_back(std::move(process));
}

Report FindingsJoin::Finish() {
  Report report;
  report.sites = sites_.Finish(processes_);
  std::vector<std::string> ids;
  for (const ReportSite& site : report.sites) ids.push_back(site.id);
  const SiteNamer id = [&](size_t site) { return ids[site]; };
  report.ranks = CompareRanks(processes_, ProcessesOfRanks(processes_), ids, sites_.places());
  for (JobProcess& process : processes_) {
    for (ReportRelease& release : process.releases) report.releases.push_back(std::move(release));
    for (ReportOom& oom : process.oom) {
      RenameSites(id, &oom);
      report.oom.push_back(std::move(oom));
    }
    report.processes.push_back(std::move(process.process));
  }
  std::stable_sort(report.releases.begin(), report.releases.end(),
                   [](const ReportRelease& a, const ReportRelease& b) { return a.bytes > b.bytes; });
  report.steps = steps_;
  report.verdict_counts.assign(verdict_counts_.begin(), verdict_counts_.end());
  report.warnings = std::move(warnings_);
  devices_.Finish(id, &report);
  std::sort(report.sites.begin(), report.sites.end(), IsWorse);
  for (const ReportSite& site : report.sites) {
    if (IsLeak(site) && site.part_of.empty()) report.ranking.push_back(site.id);
  }
  return report;
}

Report JoinFindings(std::vector<ProcessFindings> processes) {
  FindingsJoin join;
  for (ProcessFindings& findings : processes) join.Add(std::move(findings));
  return join.Finish();
}

}  // namespace vramtrack
