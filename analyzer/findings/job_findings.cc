// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/job_findings.h"
#include "analyzer/findings/rank_findings.h"
#include "analyzer/findings/site_id.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

// Of what a leak keeps as a whole.
std::pair<double, double> RateOf(const ReportSite& site) {
  if (!site.group) return {site.rate_bytes_per_step, site.rate_objects_per_step};
  return {site.group->rate_bytes_per_step, site.group->rate_objects_per_step};
}

bool Worse(const ReportSite& a, const ReportSite& b) {
  const auto rank = [](const ReportSite& site) {
    if (!IsLeak(site)) return 3;
    return !site.part_of.empty() ? 2 : site.verdict == "minor_leak" ? 1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (rank(a) != 3 && RateOf(a) != RateOf(b)) return RateOf(a) > RateOf(b);
  if (a.bytes_at_peak != b.bytes_at_peak) return a.bytes_at_peak > b.bytes_at_peak;
  return a.id < b.id;
}

void AddCounts(const ReportSite& from, ReportSite* to) {
  to->allocations += from.allocations;
  to->frees += from.frees;
  to->bytes_allocated += from.bytes_allocated;
  to->live_objects += from.live_objects;
  to->live_bytes += from.live_bytes;
  to->bytes_at_peak += from.bytes_at_peak;
  to->peak_without_site = std::max(to->peak_without_site, from.peak_without_site);
  to->rate_bytes_per_step += from.rate_bytes_per_step;
  to->rate_objects_per_step += from.rate_objects_per_step;
  to->rate_ci_low += from.rate_ci_low;
  to->rate_ci_high += from.rate_ci_high;
  to->rate_bytes_per_second += from.rate_bytes_per_second;
}

// The site that leads the leak of `index`: part_of holds indices until the sites have ids.
size_t LeaderOf(const std::vector<ReportSite>& sites, size_t index) {
  std::set<size_t> seen;
  while (!sites[index].part_of.empty() && seen.insert(index).second) index = std::stoul(sites[index].part_of);
  // Where processes contradict each other in a circle.
  return seen.count(index) != 0 ? *seen.begin() : index;
}

// Gives each part the id of its leader, and each leader the figures of the whole. `processes`: how many there are; the
// figures of a single one are right as they are.
void JoinLeaks(size_t processes, std::vector<ReportSite>* sites) {
  std::vector<size_t> leaders(sites->size());
  for (size_t i = 0; i < leaders.size(); ++i) leaders[i] = LeaderOf(*sites, i);
  for (ReportSite& site : *sites) {
    site.parts = 0;
    if (site.group && processes > 1) site.group = ReportLeak{0, 0, 0, 0, 0, 0, site.group->peak_without};
  }
  for (size_t i = 0; i < leaders.size(); ++i) {
    ReportSite& site = (*sites)[i];
    ReportSite& leader = (*sites)[leaders[i]];
    site.part_of = leaders[i] == i ? "" : leader.id;
    leader.parts += leaders[i] != i;
    if (!IsLeak(site)) continue;
    if (!leader.group) leader.group = ReportLeak{0, 0, 0, 0, 0, 0, leader.peak_without_site};
    if (processes == 1) continue;
    leader.group->rate_bytes_per_step += site.rate_bytes_per_step;
    leader.group->rate_ci_low += site.rate_ci_low;
    leader.group->rate_ci_high += site.rate_ci_high;
    leader.group->rate_objects_per_step += site.rate_objects_per_step;
    leader.group->live_bytes += site.live_bytes;
    leader.group->bytes_at_peak += site.bytes_at_peak;
  }
  for (size_t i = 0; i < leaders.size(); ++i) {
    if (leaders[i] != i) (*sites)[i].group.reset();
  }
}

// Of one device number the process that held most; others are told of in a warning.
void JoinDevices(std::vector<ProcessFindings>* processes, Report* report) {
  std::map<uint32_t, std::pair<size_t, size_t>> best;  // process, and index of its device
  std::map<uint32_t, size_t> users;
  for (size_t p = 0; p < processes->size(); ++p) {
    const std::vector<ReportDevice>& devices = (*processes)[p].devices;
    for (size_t d = 0; d < devices.size(); ++d) {
      if (devices[d].peak.reserved > 0) ++users[devices[d].index];
      const auto [found, is_new] = best.try_emplace(devices[d].index, p, d);
      const auto [best_process, best_device] = found->second;
      if (!is_new && devices[d].peak.reserved > (*processes)[best_process].devices[best_device].peak.reserved) {
        found->second = {p, d};
      }
    }
  }
  for (const auto& [index, where] : best) {
    ProcessFindings& process = (*processes)[where.first];
    report->devices.push_back(process.devices[where.second]);
    for (ReportTimeline& timeline : process.timeline) {
      if (timeline.device == index) report->timeline.push_back(std::move(timeline));
    }
    for (ReportPeakLines& lines : process.peak_lines) {
      if (lines.device == index) report->peak_lines.push_back(std::move(lines));
    }
    for (ReportPeakStacks& stacks : process.peak_stacks) {
      if (stacks.device == index) report->peak_stacks.push_back(std::move(stacks));
    }
    if (users[index] > 1) {
      report->warnings.push_back(absl::StrCat(users[index], " processes used a device with number ", index,
                                              ": its figures are those of process ", process.process.pid,
                                              ", which held the most"));
    }
  }
  // The host's memory is that of the process which has most of it.
  const ReportTimeline* host = nullptr;
  const ReportPeakLines* host_lines = nullptr;
  const ReportPeakStacks* host_stacks = nullptr;
  const auto highest = [](const ReportTimeline& timeline) {
    return *std::max_element(timeline.live.high.begin(), timeline.live.high.end());
  };
  for (const ProcessFindings& process : *processes) {
    for (const ReportTimeline& timeline : process.timeline) {
      if (timeline.device || timeline.live.high.empty()) continue;
      if (host == nullptr || highest(timeline) > highest(*host)) host = &timeline;
    }
    for (const ReportPeakLines& lines : process.peak_lines) {
      if (!lines.device && (host_lines == nullptr || lines.live > host_lines->live)) host_lines = &lines;
    }
    for (const ReportPeakStacks& stacks : process.peak_stacks) {
      if (!stacks.device && (host_stacks == nullptr || stacks.live > host_stacks->live)) host_stacks = &stacks;
    }
  }
  if (host != nullptr) report->timeline.push_back(*host);
  if (host_lines != nullptr) report->peak_lines.push_back(*host_lines);
  if (host_stacks != nullptr) report->peak_stacks.push_back(*host_stacks);
}

}  // namespace

Report JoinFindings(std::vector<ProcessFindings> processes) {
  Report report;
  std::map<std::string, uint64_t> verdict_counts;
  std::vector<std::vector<size_t>> joined(processes.size());  // where a process's sites went
  std::map<std::string, size_t> by_key;
  std::vector<ReportSite> worst_part;  // of each joined site: the process's own figures that gave the verdict
  for (size_t p = 0; p < processes.size(); ++p) {
    const size_t known = report.sites.size();
    for (const ReportSite& site : processes[p].sites) {
      const auto [found, is_new] = by_key.try_emplace(SameSiteKey(site), report.sites.size());
      joined[p].push_back(found->second);
      if (is_new) report.sites.push_back(site);
    }
    worst_part.resize(report.sites.size());
    for (size_t s = 0; s < processes[p].sites.size(); ++s) {
      ReportSite& site = processes[p].sites[s];
      if (!site.part_of.empty()) site.part_of = absl::StrCat(joined[p][std::stoul(site.part_of)]);
      ReportSite& whole = report.sites[joined[p][s]];
      ReportSite& worst = worst_part[joined[p][s]];
      if (joined[p][s] >= known) {
        worst = whole = site;
        continue;
      }
      ReportSite sum = whole;
      AddCounts(site, &sum);
      if (Worse(site, worst)) {
        worst = site;
        const ReportSite counted = sum;
        sum = site;
        // The verdict is that of the worst process, the figures are those of all.
        sum.allocations = sum.frees = sum.bytes_allocated = sum.live_objects = sum.live_bytes = 0;
        sum.bytes_at_peak = sum.peak_without_site = 0;
        sum.rate_bytes_per_step = sum.rate_objects_per_step = sum.rate_ci_low = sum.rate_ci_high = 0;
        sum.rate_bytes_per_second = 0;
        AddCounts(counted, &sum);
      }
      whole = std::move(sum);
    }
  }
  AssignIds(report.sites.size(), &report.sites);
  JoinLeaks(processes.size(), &report.sites);
  report.ranks = CompareRanks(processes, [&](size_t p, size_t site) { return report.sites[joined[p][site]].id; });
  for (size_t p = 0; p < processes.size(); ++p) {
    ProcessFindings& process = processes[p];
    for (ReportRelease& release : process.releases) report.releases.push_back(std::move(release));
    const auto name = [&](std::string* site) {
      if (!site->empty()) *site = report.sites[joined[p][std::stoul(*site)]].id;
    };
    for (ReportDevice& device : process.devices) {
      for (ReportPeakWithout& without : device.peak_set.without) {
        for (std::string& site : without.sites) name(&site);
      }
      for (ReportPattern& pattern : device.patterns) name(&pattern.site);
      if (!device.fragmentation.map) continue;
      for (ReportSegmentMap::Block& block : device.fragmentation.map->blocks) name(&block.site);
    }
    for (ReportPeakLines& lines : process.peak_lines) {
      for (ReportPeakLine& line : lines.lines) name(&line.site);
    }
    for (ReportPeakStacks& stacks : process.peak_stacks) {
      for (ReportPeakStacks::Node& node : stacks.nodes) name(&node.site);
    }
    for (ReportTimeline& timeline : process.timeline) {
      for (auto& [site, bytes] : timeline.at_high.sites) name(&site);
      if (!timeline.peak_step) continue;
      for (auto& [site, bytes] : timeline.peak_step->consists_of.sites) name(&site);
    }
    for (ReportOom& oom : process.oom) {
      for (auto& [site, bytes] : oom.holders) name(&site);
      for (ReportOom::Change& change : oom.changes) name(&change.site);
      report.oom.push_back(std::move(oom));
    }
    for (ReportDevice& device : process.devices) {
      for (ReportPin& pin : device.fragmentation.pins) {
        if (!pin.site.empty()) pin.site = report.sites[joined[p][std::stoul(pin.site)]].id;
      }
    }
    for (const auto& [verdict, sites] : process.verdict_counts) verdict_counts[verdict] += sites;
    if (process.steps.count > report.steps.count) report.steps = process.steps;
    for (std::string& warning : process.warnings) {
      if (std::find(report.warnings.begin(), report.warnings.end(), warning) == report.warnings.end()) {
        report.warnings.push_back(std::move(warning));
      }
    }
    report.processes.push_back(std::move(process.process));
  }
  std::stable_sort(report.releases.begin(), report.releases.end(),
                   [](const ReportRelease& a, const ReportRelease& b) { return a.bytes > b.bytes; });
  report.verdict_counts.assign(verdict_counts.begin(), verdict_counts.end());
  JoinDevices(&processes, &report);
  std::sort(report.sites.begin(), report.sites.end(), Worse);
  for (const ReportSite& site : report.sites) {
    if (IsLeak(site) && site.part_of.empty()) report.ranking.push_back(site.id);
  }
  return report;
}

}  // namespace vramtrack
