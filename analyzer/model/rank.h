// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a job, compared with each other.
#ifndef ANALYZER_MODEL_RANK_H_
#define ANALYZER_MODEL_RANK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/timeline.h"

namespace vramtrack {

struct ReportRankCurve {
  uint64_t order = 0;
  CurveReason as = CurveReason::kDiffers;
  uint32_t device = 0;
  PositionUnit unit = PositionUnit::kSteps;
  std::vector<double> position;
  ReportTimeline::Series live, reserved;
};

template <>
inline constexpr const char* kAbout<ReportRankCurve> =
    "How memory goes in one rank, on the device of which it has most live at its peak, in at most 64 bins; of at most "
    "64 ranks";
template <class Visitor>
void Fields(Visitor& visit, ReportRankCurve& curve) {
  visit(0, "order", curve.order,
        "its place among those with a curve, from 0: first those that are unlike the others, by what it is (leak, "
        "growth, peak, category, end), more than usual before less, the most first; then the others by rank");
  visit(0, "as", curve.as,
        "why it is there: `differs`; else `alike` where all ranks have one; of more than 64 ranks those with the "
        "`highest` peaks and the one with the `least`. `median` is the one with the median peak");
  visit(0, "device", curve.device);
  visit(0, "unit", curve.unit, "of `position`");
  visit(0, "position", curve.position, "where a bin begins");
  visit(0, "live", curve.live);
  visit(0, "reserved", curve.reserved);
}

struct ReportRank {
  struct Difference {
    RankFigure what = RankFigure::kLeak;
    double value = 0;
    double usual = 0;
    ReportSiteIndex site;
    std::string category;
  };

  std::optional<int> rank;
  uint32_t pid = 0;
  std::vector<uint32_t> devices;
  uint64_t peak_live = 0, end_live = 0;
  std::vector<std::pair<std::string, uint64_t>> categories;
  std::optional<double> growth_bytes_per_step;
  uint64_t leaks = 0;
  double leak_bytes_per_step = 0;
  std::vector<Difference> differs;
  std::optional<ReportRankCurve> curve;
};

template <>
inline constexpr const char* kAbout<ReportRank::Difference> = "How a rank is unlike most others";
template <class Visitor>
void Fields(Visitor& visit, ReportRank::Difference& difference) {
  visit(0, "what", difference.what);
  visit(0, "value", difference.value, "bytes, or bytes per step");
  visit(0, "usual", difference.usual, "the median of the other ranks");
  visit(0, "site", difference.site, "of a leak");
  visit(0, "category", field::OrNull{difference.category},
        "of `category`: what the rank holds more or less of at its peaks");
}

template <>
inline constexpr const char* kAbout<ReportRank> =
    "One for each rank of a job with several, or for each process where there are no ranks. Sums over its devices";
template <class Visitor>
void Fields(Visitor& visit, ReportRank& rank) {
  visit(0, "rank", rank.rank,
        "`null` in a job without ranks. Of several processes with one rank it is the one with the most memory");
  visit(0, "pid", rank.pid);
  visit(0, "devices", rank.devices);
  visit(0, "peak_live", rank.peak_live);
  visit(0, "categories", field::NamedValues{rank.categories, "name", "bytes"}, "at the peaks, by name");
  visit(0, "end_live", rank.end_live);
  visit(0, "growth_bytes_per_step", rank.growth_bytes_per_step, "`null` with too few steps");
  visit(0, "leaks", rank.leaks, "sites that leak");
  visit(0, "leak_bytes_per_step", rank.leak_bytes_per_step, "what they leak together");
  visit(0, "differs", rank.differs, "empty: it is not unlike most others");
  visit(0, "curve", rank.curve, "`null`: it used no device, or there are more than 64 ranks and others are shown");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_RANK_H_
