// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/rank_curves.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>

#include "analyzer/model/coarser.h"

namespace vramtrack {
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
