// SPDX-License-Identifier: Apache-2.0
//
// What pictures are drawn from, as JSON: in columns, as there may be thousands of rows.
#ifndef ANALYZER_RENDER_JSON_PICTURE_JSON_H_
#define ANALYZER_RENDER_JSON_PICTURE_JSON_H_

#include "analyzer/model/report.h"
#include "analyzer/render/json/json_values.h"

namespace vramtrack {

Json KeptJson(const ReportKept& kept);
Json SegmentMapJson(const ReportSegmentMap& map);
Json CompositionJson(const ReportComposition& composition);
Json PeakStepJson(const ReportPeakStep& step);
Json WithinStepsJson(const ReportWithinSteps& within);
Json TimelineJson(const ReportTimeline& timeline);
Json RankCurveJson(const ReportRankCurve& curve);
Json PeakStacksJson(const ReportPeakStacks& stacks);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_PICTURE_JSON_H_
