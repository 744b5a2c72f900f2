// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/rank_findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

constexpr double kSpreads = 5;
constexpr double kToStandardDeviation = 1.4826;  // of the median absolute deviation, for normal values

// Less is no difference to look into.
constexpr double kMinBytes = 16 << 20;
constexpr double kMinShare = 0.05;
constexpr double kMinGrowth = 4096;  // bytes per step
constexpr double kMinGrowthShare = 0.2;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double MedianOfOthers(const std::vector<double>& values, size_t index) {
  std::vector<double> others = values;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(index));
  return Median(std::move(others));
}

// The same code on another device is the same place.
std::string PlaceOf(const ReportSite& site) {
  std::string text = absl::StrCat(site.level, "|", site.kind);
  for (const ReportFrame& frame : site.frames) {
    absl::StrAppend(&text, "|", frame.function, "|", frame.file, "|", frame.line);
    if (frame.line == 0) absl::StrAppend(&text, "|", frame.module, "|", frame.offset);
  }
  return text;
}

struct Candidate {
  size_t process;
  ReportRank rank;
};

ReportRank Describe(const ProcessFindings& findings) {
  ReportRank rank;
  rank.rank = findings.process.rank;
  rank.pid = findings.process.pid;
  std::map<std::string, uint64_t> by_category;
  for (const ReportDevice& device : findings.devices) {
    if (device.peak.live == 0) continue;
    rank.devices.push_back(device.index);
    rank.peak_live += device.peak.live;
    for (const ReportPeakCategory& category : device.peak_set.categories) by_category[category.name] += category.bytes;
    rank.end_live += device.end.live;
    if (device.growth) {
      // Noise is no growth.
      const bool sure = device.growth->ci_low > 0 || device.growth->ci_high < 0;
      rank.growth_bytes_per_step = rank.growth_bytes_per_step.value_or(0) + (sure ? device.growth->bytes_per_step : 0);
    }
  }
  rank.categories.assign(by_category.begin(), by_category.end());
  for (const ReportSite& site : findings.sites) {
    if (!IsLeak(site)) continue;
    rank.leaks += site.part_of.empty();
    rank.leak_bytes_per_step += site.rate_bytes_per_step;
  }
  return rank;
}

std::vector<Candidate> Candidates(const std::vector<ProcessFindings>& processes) {
  const bool ranks = std::any_of(processes.begin(), processes.end(),
                                 [](const ProcessFindings& findings) { return findings.process.rank.has_value(); });
  std::vector<Candidate> candidates;
  for (size_t p = 0; p < processes.size(); ++p) {
    if (ranks && !processes[p].process.rank) continue;
    ReportRank rank = Describe(processes[p]);
    if (!ranks && rank.devices.empty()) continue;
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](const Candidate& other) { return ranks && other.rank.rank == rank.rank; });
    if (same == candidates.end()) {
      candidates.push_back({p, std::move(rank)});
    } else if (rank.peak_live > same->rank.peak_live) {
      *same = {p, std::move(rank)};
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::make_pair(a.rank.rank.value_or(0), a.rank.pid) < std::make_pair(b.rank.rank.value_or(0), b.rank.pid);
  });
  return candidates;
}

// Among those of which the figure is known.
void CompareFigures(const char* what, const std::function<std::optional<double>(const ReportRank&)>& figure,
                    double floor, double share, std::vector<Candidate>* candidates, const std::string& category = "") {
  std::vector<double> values;
  std::vector<ReportRank*> ranks;
  for (Candidate& candidate : *candidates) {
    const std::optional<double> value = figure(candidate.rank);
    if (!value) continue;
    values.push_back(*value);
    ranks.push_back(&candidate.rank);
  }
  const std::vector<bool> outliers =
      Outliers(values, [=](double median) { return std::max(floor, share * std::fabs(median)); });
  for (size_t i = 0; i < values.size(); ++i) {
    if (outliers[i]) ranks[i]->differs.push_back({what, values[i], MedianOfOthers(values, i), "", category});
  }
}

uint64_t HeldFor(const ReportRank& rank, const std::string& category) {
  for (const auto& [name, bytes] : rank.categories) {
    if (name == category) return bytes;
  }
  return 0;
}

// What the peaks consist of: two that are equally high may hold different things.
void CompareCategories(std::vector<Candidate>* candidates) {
  std::set<std::string> names;
  for (const Candidate& candidate : *candidates) {
    for (const auto& [name, bytes] : candidate.rank.categories) names.insert(name);
  }
  for (const std::string& name : names) {
    CompareFigures(
        "category", [&name](const ReportRank& rank) { return static_cast<double>(HeldFor(rank, name)); }, kMinBytes,
        kMinShare, candidates, name);
  }
}

// Leaks that fewer than half of the ranks have, where the others were seen well enough to say that they have none.
void CompareLeaks(const std::vector<ProcessFindings>& processes,
                  const std::function<std::string(size_t, size_t)>& site_id, std::vector<Candidate>* candidates) {
  std::map<std::string, std::set<size_t>> leaking, undecided;  // candidates by place
  for (size_t c = 0; c < candidates->size(); ++c) {
    for (const ReportSite& site : processes[(*candidates)[c].process].sites) {
      if (IsLeak(site)) leaking[PlaceOf(site)].insert(c);
      if (site.verdict == "insufficient_evidence") undecided[PlaceOf(site)].insert(c);
    }
  }
  for (size_t c = 0; c < candidates->size(); ++c) {
    const size_t process = (*candidates)[c].process;
    const std::vector<ReportSite>& sites = processes[process].sites;
    for (size_t s = 0; s < sites.size(); ++s) {
      // What a leak keeps besides is told with its leader.
      if (!IsLeak(sites[s]) || !sites[s].part_of.empty()) continue;
      const std::string place = PlaceOf(sites[s]);
      if (leaking[place].size() * 2 > candidates->size() || undecided.count(place) != 0) continue;
      if (leaking[place].size() * 2 == candidates->size() && candidates->size() > 2) continue;
      const double rate = sites[s].group ? sites[s].group->rate_bytes_per_step : sites[s].rate_bytes_per_step;
      (*candidates)[c].rank.differs.push_back({"leak", rate, 0, site_id(process, s), ""});
    }
  }
}

}  // namespace

std::vector<bool> Outliers(const std::vector<double>& values, const std::function<double(double median)>& floor) {
  std::vector<bool> outliers(values.size());
  if (values.size() < 2) return outliers;
  if (values.size() == 2) {
    const size_t larger = values[1] > values[0];
    outliers[larger] = values[larger] - values[1 - larger] > floor(values[1 - larger]);
    return outliers;
  }
  const double median = Median(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::fabs(value - median));
  const double limit = std::max(kSpreads * kToStandardDeviation * Median(deviations), floor(median));
  for (size_t i = 0; i < values.size(); ++i) outliers[i] = deviations[i] > limit;
  return outliers;
}

std::vector<ReportRank> CompareRanks(const std::vector<ProcessFindings>& processes,
                                     const std::function<std::string(size_t process, size_t site)>& site_id) {
  std::vector<Candidate> candidates = Candidates(processes);
  if (candidates.size() < 2) return {};
  CompareLeaks(processes, site_id, &candidates);
  CompareFigures(
      "growth", [](const ReportRank& rank) { return rank.growth_bytes_per_step; }, kMinGrowth, kMinGrowthShare,
      &candidates);
  CompareFigures(
      "peak", [](const ReportRank& rank) { return static_cast<double>(rank.peak_live); }, kMinBytes, kMinShare,
      &candidates);
  CompareCategories(&candidates);
  CompareFigures(
      "end", [](const ReportRank& rank) { return static_cast<double>(rank.end_live); }, kMinBytes, kMinShare,
      &candidates);
  std::vector<ReportRank> ranks;
  for (Candidate& candidate : candidates) ranks.push_back(std::move(candidate.rank));
  return ranks;
}

}  // namespace vramtrack
