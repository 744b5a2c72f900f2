// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/rank_findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

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

// Of `sorted` without one of the values.
double MedianWithout(double value, const std::vector<double>& sorted) {
  const auto left_out = static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
  const auto other = [&](size_t index) { return sorted[index < left_out ? index : index + 1]; };
  const size_t others = sorted.size() - 1, half = others / 2;
  return others % 2 != 0 ? other(half) : (other(half - 1) + other(half)) / 2;
}

// Among those of which the figure is known.
void CompareFigures(RankFigure what, const std::function<std::optional<double>(const ReportRank&)>& figure,
                    double floor, double share, std::vector<ReportRank>* all, const std::string& category = "") {
  std::vector<double> values;
  std::vector<ReportRank*> ranks;
  for (ReportRank& rank : *all) {
    const std::optional<double> value = figure(rank);
    if (!value) continue;
    values.push_back(*value);
    ranks.push_back(&rank);
  }
  const std::vector<bool> outliers =
      Outliers(values, [=](double median) { return std::max(floor, share * std::fabs(median)); });
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < values.size(); ++i) {
    if (outliers[i]) ranks[i]->differs.push_back({what, values[i], MedianWithout(values[i], sorted), "", category});
  }
}

uint64_t HeldFor(const ReportRank& rank, const std::string& category) {
  for (const auto& [name, bytes] : rank.categories) {
    if (name == category) return bytes;
  }
  return 0;
}

// What the peaks consist of: two that are equally high may hold different things.
void CompareCategories(std::vector<ReportRank>* ranks) {
  std::set<std::string> names;
  for (const ReportRank& rank : *ranks) {
    for (const auto& [name, bytes] : rank.categories) names.insert(name);
  }
  for (const std::string& name : names) {
    CompareFigures(
        RankFigure::kCategory, [&name](const ReportRank& rank) { return static_cast<double>(HeldFor(rank, name)); },
        kMinBytes, kMinShare, ranks, name);
  }
}

// Of a place: in how many of the ranks it leaks, and whether any of them has seen too little to tell.
struct PlaceVotes {
  size_t leaking = 0, last = 0;  // the last rank that was counted, from 1 on
  bool undecided = false;
};

// Leaks that fewer than half of the ranks have, where the others were seen well enough to say that they have none.
// `sites`: of each rank its own.
void CompareLeaks(const std::vector<const std::vector<SiteRow>*>& sites, const std::vector<std::string>& ids,
                  const std::vector<uint32_t>& places, std::vector<ReportRank>* ranks) {
  std::vector<PlaceVotes> votes(places.size());
  for (size_t r = 0; r < sites.size(); ++r) {
    for (const SiteRow& row : *sites[r]) {
      PlaceVotes& place = votes[places[row.site]];
      if (row.vote == Vote::kNotEnough) place.undecided = true;
      if (row.vote != Vote::kLeak || place.last == r + 1) continue;
      ++place.leaking;
      place.last = r + 1;
    }
  }
  for (size_t r = 0; r < sites.size(); ++r) {
    for (const SiteRow& row : *sites[r]) {
      // What a leak keeps besides is told with its leader.
      if (!row.leads) continue;
      const PlaceVotes& place = votes[places[row.site]];
      if (place.leaking * 2 > sites.size() || place.undecided) continue;
      if (place.leaking * 2 == sites.size() && sites.size() > 2) continue;
      (*ranks)[r].differs.push_back({RankFigure::kLeak, row.leak_bytes_per_step, 0, ids[row.site], ""});
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

ReportRank DescribeRank(const ProcessFindings& findings) {
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

std::vector<const JobProcess*> ProcessesOfRanks(const std::vector<const JobProcess*>& processes) {
  const bool ranks = std::any_of(processes.begin(), processes.end(),
                                 [](const JobProcess* process) { return process->rank.rank.has_value(); });
  std::vector<const JobProcess*> chosen;
  for (const JobProcess* process : processes) {
    const ReportRank& rank = process->rank;
    if (ranks ? !rank.rank.has_value() : rank.devices.empty()) continue;
    // Those of one rank follow each other.
    if (!ranks || chosen.empty() || chosen.back()->rank.rank != rank.rank) {
      chosen.push_back(process);
    } else if (rank.peak_live > chosen.back()->rank.peak_live) {
      chosen.back() = process;
    }
  }
  return chosen;
}

std::vector<ReportRank> CompareRanks(const std::vector<const JobProcess*>& ranks, const std::vector<std::string>& ids,
                                     const std::vector<uint32_t>& places) {
  if (ranks.size() < 2) return {};
  std::vector<ReportRank> compared;
  std::vector<const std::vector<SiteRow>*> sites;
  for (const JobProcess* process : ranks) {
    compared.push_back(process->rank);
    sites.push_back(&process->sites);
  }
  CompareLeaks(sites, ids, places, &compared);
  CompareFigures(
      RankFigure::kGrowth, [](const ReportRank& rank) { return rank.growth_bytes_per_step; }, kMinGrowth,
      kMinGrowthShare, &compared);
  CompareFigures(
      RankFigure::kPeak, [](const ReportRank& rank) { return static_cast<double>(rank.peak_live); }, kMinBytes,
      kMinShare, &compared);
  CompareCategories(&compared);
  CompareFigures(
      RankFigure::kEnd, [](const ReportRank& rank) { return static_cast<double>(rank.end_live); }, kMinBytes, kMinShare,
      &compared);
  return compared;
}

}  // namespace vramtrack
