// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/rank_findings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/base/median.h"
#include "analyzer/model/coarser.h"

namespace vramtrack {
namespace {

constexpr double kSpreads = 5;
constexpr double kToStandardDeviation = 1.4826;  // of the median absolute deviation, for normal values

// A smaller difference is ignored.
constexpr double kMinBytes = 16 << 20;
constexpr double kMinShare = 0.05;
constexpr double kMinGrowth = 4096;  // bytes per step
constexpr double kMinGrowthShare = 0.2;

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
    if (outliers[i]) ranks[i]->differs.push_back({what, values[i], MedianWithout(values[i], sorted), {}, category});
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
void CompareLeaks(const std::vector<const std::vector<SiteRow>*>& sites, const JoinedSites::Places& places,
                  std::vector<ReportRank>* ranks) {
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
      // What a leak keeps besides is reported with its leader.
      if (!row.leads) continue;
      const PlaceVotes& place = votes[places[row.site]];
      if (place.leaking * 2 > sites.size() || place.undecided) continue;
      if (place.leaking * 2 == sites.size() && sites.size() > 2) continue;
      (*ranks)[r].differs.push_back({RankFigure::kLeak, row.leak_bytes_per_step, 0, row.site, ""});
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
    rank.end_live += device.LastMoment().live;
    if (device.growth) {
      // Noise does not count as growth.
      const bool sure = device.growth->ci_low > 0 || device.growth->ci_high < 0;
      rank.growth_bytes_per_step = rank.growth_bytes_per_step.value_or(0) + (sure ? device.growth->bytes_per_step : 0);
    }
  }
  rank.categories.assign(by_category.begin(), by_category.end());
  for (const ReportSite& site : findings.sites) {
    if (!IsLeak(site)) continue;
    rank.leaks += site.part_of.is_none();
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

std::vector<ReportRank> CompareRanks(const std::vector<const JobProcess*>& ranks, const JoinedSites::Places& places) {
  if (ranks.size() < 2) return {};
  std::vector<ReportRank> compared;
  std::vector<const std::vector<SiteRow>*> sites;
  for (const JobProcess* process : ranks) {
    compared.push_back(process->rank);
    sites.push_back(&process->sites);
  }
  CompareLeaks(sites, places, &compared);
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

namespace {

// What a rank may differ in, the worst first.
constexpr RankFigure kWorstFirst[] = {RankFigure::kLeak, RankFigure::kGrowth, RankFigure::kPeak, RankFigure::kCategory,
                                      RankFigure::kEnd};

// Less is worse: what it is, then whether it is less than usual, then how far from that.
using Badness = std::tuple<size_t, bool, double>;

Badness HowBad(const ReportRank& rank) {
  Badness worst(std::size(kWorstFirst), true, 0);
  for (const ReportRank::Difference& difference : rank.differs) {
    const auto* const kind = std::find(std::begin(kWorstFirst), std::end(kWorstFirst), difference.what);
    const double more = difference.value - difference.usual;
    worst = std::min(worst, {static_cast<size_t>(kind - std::begin(kWorstFirst)), more < 0, -std::fabs(more)});
  }
  return worst;
}

struct Shown {
  size_t rank;
  CurveReason as;
};

// `ranks`: those that can be shown, in their order.
std::vector<Shown> ToShow(const std::vector<ReportRank>& compared, const std::vector<size_t>& ranks) {
  std::vector<size_t> differing, others;
  for (const size_t rank : ranks) (compared[rank].differs.empty() ? others : differing).push_back(rank);
  std::stable_sort(differing.begin(), differing.end(),
                   [&](size_t a, size_t b) { return HowBad(compared[a]) < HowBad(compared[b]); });
  std::vector<size_t> by_peak = others;
  std::stable_sort(by_peak.begin(), by_peak.end(),
                   [&](size_t a, size_t b) { return compared[a].peak_live > compared[b].peak_live; });
  std::vector<Shown> shown;
  const size_t usual = by_peak.size() / 2;  // where the median is
  if (ranks.size() <= kMostCurves) {
    for (const size_t rank : differing) shown.push_back({rank, CurveReason::kDiffers});
    for (const size_t rank : others)
      shown.push_back({rank, rank == by_peak[usual] ? CurveReason::kMedian : CurveReason::kAlike});
    return shown;
  }
  // The reference, and what there is at the other end.
  std::vector<Shown> at_the_end;
  if (!by_peak.empty()) at_the_end.push_back({by_peak[usual], CurveReason::kMedian});
  if (by_peak.size() > usual + 1) at_the_end.push_back({by_peak.back(), CurveReason::kLeast});
  const size_t room = kMostCurves - at_the_end.size();
  for (size_t i = 0; i < differing.size() && shown.size() < room; ++i)
    shown.push_back({differing[i], CurveReason::kDiffers});
  for (size_t i = 0; i + 1 < by_peak.size() && shown.size() < room; ++i) {
    if (i != usual) shown.push_back({by_peak[i], CurveReason::kHighest});
  }
  shown.insert(shown.end(), at_the_end.begin(), at_the_end.end());
  return shown;
}

}  // namespace

std::optional<ReportRankCurve> DescribeCurve(const ProcessFindings& findings) {
  const ReportDevice* most_used = nullptr;
  for (const ReportDevice& device : findings.devices) {
    if (device.peak.live > (most_used == nullptr ? 0 : most_used->peak.live)) most_used = &device;
  }
  if (most_used == nullptr) return std::nullopt;
  for (const ReportTimeline& timeline : findings.timeline) {
    if (timeline.device != most_used->index || timeline.position.empty()) continue;
    ReportRankCurve curve;
    curve.device = most_used->index;
    curve.unit = timeline.unit;
    curve.position = timeline.position;
    curve.live = timeline.live;
    curve.reserved = timeline.reserved;
    while (curve.position.size() > kMostCurveBins) {
      HalvePositions(&curve.position);
      HalveSeries(&curve.live);
      HalveSeries(&curve.reserved);
    }
    return curve;
  }
  return std::nullopt;
}

void AddCurves(const std::vector<const JobProcess*>& processes, std::vector<ReportRank>* compared) {
  std::vector<size_t> ranks;
  for (size_t rank = 0; rank < compared->size(); ++rank) {
    if (processes[rank]->curve) ranks.push_back(rank);
  }
  uint64_t order = 0;
  for (const auto& [rank, as] : ToShow(*compared, ranks)) {
    ReportRankCurve& curve = (*compared)[rank].curve.emplace(*processes[rank]->curve);
    curve.order = order++;
    curve.as = as;
  }
}

}  // namespace vramtrack
