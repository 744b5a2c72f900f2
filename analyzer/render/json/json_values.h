// SPDX-License-Identifier: Apache-2.0
//
// How values of a report become JSON, and JSON becomes text: for all documents alike.
#ifndef ANALYZER_RENDER_JSON_JSON_VALUES_H_
#define ANALYZER_RENDER_JSON_JSON_VALUES_H_

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

using Json = nlohmann::ordered_json;

// null for what is no number.
inline Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <typename T>
Json Optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T, typename F>
Json Array(const std::vector<T>& values, F convert) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(convert(value));
  return array;
}

Json ProcessJson(const ReportProcess& process);
Json StepsJson(const ReportSteps& steps);
Json FrameJson(const ReportFrame& frame);
Json WorkJson(const ReportWork& work);
Json LastUseJson(const ReportLastUse& last);
Json FirstKernelJson(const ReportFirstKernel& first);

// One line a field, and in lists one line an element: fit for grep and diff, and no larger than it must be.
std::string JsonLines(const Json& json);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_JSON_VALUES_H_
