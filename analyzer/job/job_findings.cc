// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_findings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "analyzer/job/rank_findings.h"
#include "analyzer/job/rank_votes.h"
#include "analyzer/job/site_id.h"
#include "analyzer/model/oom_lines.h"
#include "analyzer/model/site_references.h"

namespace vramtrack {

void JobReleases::Add(const JobProcess& process, std::vector<ReportRelease> releases) {
  for (size_t i = 0; i < releases.size(); ++i) {
    ReportRelease& release = releases[i];
    std::vector<size_t>& alike = by_hash_[FramesHash(release.stack)];
    const auto same = std::find_if(alike.begin(), alike.end(),
                                   [&](size_t index) { return IsSameStack(places_[index].sum.stack, release.stack); });
    if (same == alike.end()) {
      alike.push_back(places_.size());
      const uint64_t bytes = release.bytes;
      places_.push_back({std::move(release), &process, i, &process, &process, bytes});
      continue;
    }
    Place& place = places_[*same];
    ReportRelease& sum = place.sum;
    sum.calls += release.calls;
    sum.segments += release.segments;
    sum.bytes += release.bytes;
    sum.timed += release.timed;
    sum.seconds_at_least += release.seconds_at_least;
    sum.seconds_at_most += release.seconds_at_most;
    sum.least = std::min(sum.least, release.least);
    sum.most = std::max(sum.most, release.most);
    sum.processes += place.last != &process;
    place.last = &process;
    if (IsBefore(process, *place.first)) {
      place.first = &process;
      place.index = i;
    }
    if (release.bytes > place.most_bytes || (release.bytes == place.most_bytes && IsBefore(process, *place.most))) {
      place.most = &process;
      place.most_bytes = release.bytes;
      sum.times = std::move(release.times);
    }
  }
}

std::vector<ReportRelease> JobReleases::Finish() {
  std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    if (a.sum.bytes != b.sum.bytes) return a.sum.bytes > b.sum.bytes;
    if (a.first == b.first) return a.index < b.index;
    return IsBefore(*a.first, *b.first);
  });
  std::vector<ReportRelease> releases;
  for (Place& place : places_) releases.push_back(std::move(place.sum));
  return releases;
}

namespace {

constexpr size_t kProcessesTold = 4;

// The text without its figures.
std::string FormOf(const std::string& warning) {
  std::string form;
  for (const char c : warning) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      form += c;
    } else if (form.empty() || form.back() != '#') {
      form += '#';
    }
  }
  return form;
}

}  // namespace

void JobWarnings::Add(const JobProcess& process, std::vector<std::string> warnings) {
  for (size_t i = 0; i < warnings.size(); ++i) {
    Alike& alike = by_form_[FormOf(warnings[i])];
    alike.different.insert(std::hash<std::string>()(warnings[i]));
    alike.of_first[&process].push_back({i, std::move(warnings[i])});
    if (alike.of_first.size() > kProcessesTold) alike.of_first.erase(std::prev(alike.of_first.end()));
  }
}

std::vector<std::string> JobWarnings::Finish() const {
  std::vector<const Alike*> order;
  for (const auto& [form, alike] : by_form_) order.push_back(&alike);
  std::stable_sort(order.begin(), order.end(), [](const Alike* a, const Alike* b) {
    const auto &first = *a->of_first.begin(), &other = *b->of_first.begin();
    if (IsBefore(*first.first, *other.first)) return true;
    if (IsBefore(*other.first, *first.first)) return false;
    return first.second[0].index < other.second[0].index;
  });
  std::vector<std::string> lines;
  for (const Alike* alike : order) {
    std::set<std::string> told;
    for (const auto& [process, of_process] : alike->of_first) {
      for (const Line& line : of_process) {
        if (told.insert(line.text).second) lines.push_back(line.text);
      }
    }
    if (alike->different.size() > told.size()) {
      lines.push_back(
          absl::StrCat("and ", alike->different.size() - told.size(), " more like the last one, of other processes"));
    }
  }
  return lines;
}

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
  std::vector<std::vector<uint64_t>> indices;
  for (ReportSite& site : report->sites) {
    indices.emplace_back();
    if (site.raw_frames.empty()) continue;
    indices.back() = IndicesInRaw(site.frames, site.raw_frames);
    ShowRawFrames(&site);
  }
  for (ReportPeakStacks& stacks : report->peak_stacks) {
    for (ReportPeakStacks::Node& node : stacks.nodes) {
      const std::vector<uint64_t>& of_site = indices[node.site.value()];
      if (node.frame < of_site.size()) node.frame = of_site[node.frame];
    }
  }
}

// Puts the worst sites first, and ranks the leaks.
void SortSites(Report* report) {
  std::vector<uint32_t> order(report->sites.size()), moved(order.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return IsWorse(report->sites[a], report->sites[b]); });
  std::vector<ReportSite> sorted;
  for (const uint32_t site : order) {
    moved[site] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(report->sites[site]));
  }
  report->sites = std::move(sorted);
  ForEachSiteReference(*report, [&](ReportSiteIndex* site) { *site = ReportSiteIndex(moved[site->value()]); });
  for (uint32_t i = 0; i < report->sites.size(); ++i) {
    const ReportSite& site = report->sites[i];
    if (IsLeak(site) && site.part_of.is_none()) report->ranking.emplace_back(i);
  }
}

}  // namespace

void FindingsJoin::Add(ProcessFindings findings) {
  JobProcess& process = processes_.emplace_back();
  process.rank = DescribeRank(findings);
  process.curve = DescribeCurve(findings);
  process.process = std::move(findings.process);
  process.sites = sites_.Add(process, std::move(findings.sites));
  const std::vector<SiteRow>& rows = process.sites;
  ForEachSiteReference(findings, [&](ReportSiteIndex* site) {
    *site = site->value() < rows.size() ? rows[site->value()].site : ReportSiteIndex();
  });
  devices_.Add(process, &findings);
  for (ReportOom& oom : findings.oom) {
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
  std::vector<std::string> reasons;
  for (const ReportReason& reason : findings.reasons) reasons.push_back(absl::StrCat(reason.id, "\n", reason.text));
  reasons_.Add(process, std::move(reasons));
  TakeMore(process, &findings.pinned_growth, &pinned_growth_);
  TakeMore(process, &findings.handle_growth, &handle_growth_);
  for (const auto& [verdict, sites] : findings.verdict_counts) verdict_counts_[verdict] += sites;
  cards_.Add(process.process.pid, process.process.rank, std::move(findings.cards));
  if (findings.host && (!host_ || MattersMore(*findings.host, *host_))) host_ = std::move(findings.host);
  const uint64_t steps = findings.steps.count;
  if (steps > steps_.count || (steps > 0 && steps == steps_.count && IsBefore(process, *steps_of_))) {
    steps_ = std::move(findings.steps);
    steps_of_ = &process;
  }
}

void FindingsJoin::TakeMore(const JobProcess& process, std::optional<ReportGrowthLedger>* growth, MostGrown* most) {
  if (!*growth) return;
  const int64_t grown = (*growth)->grown, known = most->ledger ? most->ledger->grown : 0;
  if (most->ledger && (grown < known || (grown == known && !IsBefore(process, *most->of)))) return;
  most->ledger = std::move(*growth);
  most->of = &process;
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
  report.ranks = CompareRanks(ranks, sites_.places());
  AddCurves(ranks, &report.ranks);
  for (const JobProcess* process : processes) {
    report.oom.insert(report.oom.end(), process->oom.begin(), process->oom.end());
    report.walks.insert(report.walks.end(), process->walks.begin(), process->walks.end());
    report.processes.push_back(process->process);
  }
  report.releases = releases_.Finish();
  report.steps = steps_;
  report.host = host_;
  report.cards = cards_.Finish();
  report.verdict_counts.assign(verdict_counts_.begin(), verdict_counts_.end());
  report.warnings = warnings_.Finish();
  for (const std::string& line : reasons_.Finish()) {
    const size_t end = line.find('\n');
    if (end == std::string::npos) {
      // "and 3 more like the last one, of other processes"
      report.reasons.push_back({report.reasons.empty() ? "" : report.reasons.back().id, line});
    } else {
      std::string id = line.substr(0, end);
      // With processes that have steps come some that only start them, or load data.
      if (id == "no_steps" && report.steps.count > 0) continue;
      if (id == "few_allocations" && report.steps.source != StepSource::kNone) continue;
      report.reasons.push_back({std::move(id), line.substr(end + 1)});
    }
  }
  report.pinned_growth = std::move(pinned_growth_.ledger);
  report.handle_growth = std::move(handle_growth_.ledger);
  if (failures_ > failures_kept_) {
    report.warnings.push_back(absl::StrCat(failures_,
                                           " allocations failed for lack of memory in the processes of the job; ",
                                           failures_kept_, " of them are shown, by rank"));
  }
  devices_.Finish(&report);
  ShowAllFrames(&report);
  SortSites(&report);
  AnswerFailures(&report);
  return report;
}

Report JoinFindings(std::vector<ProcessFindings> processes) {
  FindingsJoin join;
  for (ProcessFindings& findings : processes) join.Add(std::move(findings));
  return join.Finish();
}

}  // namespace vramtrack
