// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/openmetrics/metrics_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string MetricsText::Label(std::string_view name, std::string_view value) {
  std::string label = absl::StrCat(View(name), "=\"");
  for (const char c : Printable(value)) {
    if (c == '\\' || c == '"') label += '\\';
    label += c;
  }
  return label + "\"";
}

void MetricsText::Sample(size_t metric, std::string_view labels, uint64_t value) {
  Add(metric, labels, absl::StrCat(value));
}

void MetricsText::Sample(size_t metric, std::string_view labels, double value) {
  Add(metric, labels,
      std::isnan(value)   ? "NaN"
      : std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf")
                          : absl::StrFormat("%.15g", value));
}

void MetricsText::Add(size_t metric, std::string_view labels, const std::string& value) {
  const std::string_view type = metrics_[metric].type;
  absl::StrAppend(&samples_[metric], metrics_[metric].name,
                  type == "counter" ? "_total"
                  : type == "info"  ? "_info"
                                    : "");
  if (!labels.empty()) absl::StrAppend(&samples_[metric], "{", View(labels), "}");
  absl::StrAppend(&samples_[metric], " ", value, "\n");
}

std::string MetricsText::Finish() const {
  std::string text;
  for (size_t i = 0; i < samples_.size(); ++i) {
    const Metric& metric = metrics_[i];
    if (samples_[i].empty()) continue;
    absl::StrAppend(&text, "# TYPE ", metric.name, " ", metric.type, "\n");
    if (*metric.unit != '\0') absl::StrAppend(&text, "# UNIT ", metric.name, " ", metric.unit, "\n");
    absl::StrAppend(&text, "# HELP ", metric.name, " ", metric.help, "\n", samples_[i]);
  }
  return text + "# EOF\n";
}

}  // namespace vramtrack
