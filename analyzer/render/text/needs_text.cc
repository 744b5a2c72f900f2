// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/needs_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

std::string ValueFitText(const ReportValueFit& fit) {
  if (!fit.line) return "no line fits: " + fit.refused;
  const ReportValueFit::Line& line = *fit.line;
  const std::string interval = FormatByteInterval(line.ci_low, line.ci_high);
  std::string text = absl::StrCat(
      "a step peaks at ", FormatByteCount(line.fixed_bytes), " + ", FormatByteCount(line.bytes_per_unit), " per unit",
      interval.empty() ? "" : absl::StrCat(" (", interval, ")"), " of the step's value. That explains ",
      FormatPercent(line.explained), " of the differences between ", FormatCount(fit.steps), " steps with values from ",
      FormatAbout(fit.least_value), " to ", FormatAbout(fit.most_value), ".");
  if (line.bend_value) {
    absl::StrAppend(&text, " Steps with values below ", FormatAbout(*line.bend_value), " peak at ",
                    FormatByteCount(line.floor_bytes.value_or(0)), ", whatever their value.");
  }
  if (line.largest_value) {
    absl::StrAppend(&text, " If larger values follow this line, the device has room for values up to ",
                    FormatAbout(*line.largest_value),
                    *line.largest_value >= ReportValueFit::kFarthest * fit.most_value ? " at least." : ".");
  }
  return text;
}

std::string SuggestedLimitText(const ReportDevice& device) {
  const ReportSuggestedLimit& limit = *device.suggested_limit;
  if (!limit.refused.empty()) return absl::StrCat("not suggested (", limit.refused, ")");
  const std::pair<uint64_t, const char*> parts[] = {{limit.others, "the CUDA context and other libraries or processes"},
                                                    {limit.fragmentation, "fragmentation"},
                                                    {limit.growth, "as much growth again"}};
  std::string text = absl::StrCat(BytesText(limit.max_memory), " of ", BytesText(device.total_bytes), "; leave ",
                                  BytesText(limit.headroom), " free: ", BytesText(limit.transient),
                                  " that a step takes above the ", BytesText(limit.kept), " that it keeps");
  for (const auto& [bytes, name] : parts) {
    if (bytes > 0) absl::StrAppend(&text, ", ", BytesText(bytes), " for ", name);
  }
  return absl::StrCat(text, " (", FormatCount(limit.steps), " steps)");
}

}  // namespace vramtrack
