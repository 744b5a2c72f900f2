// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/needs_text.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {
namespace {

// " (95 % CI 126 to 128 KiB)"; nothing if both ends look alike.
std::string IntervalText(const char* name, double low, double high) {
  const std::string interval = FormatByteInterval(low, high, name);
  return interval.empty() ? "" : absl::StrCat(" (", interval, ")");
}

const char* FitText(const ReportValueFit::Prediction& predicted) {
  if (predicted.fits == DeviceFit::kNo) return ", more than the device has";
  return predicted.fits == DeviceFit::kMaybe ? ", which may be more than the device has" : "";
}

}  // namespace

std::string ValueFitText(const ReportValueFit& fit) {
  if (!fit.line) return "no line fits: " + fit.refused;
  const ReportValueFit::Line& line = *fit.line;
  std::string text =
      absl::StrCat("a step peaks at ", FormatByteCount(line.fixed_bytes), " + ", FormatByteCount(line.bytes_per_unit),
                   " per unit", IntervalText("CI ", line.ci_low, line.ci_high), " of the step's value. That explains ",
                   FormatPercent(line.explained), " of the differences between ", FormatCount(fit.steps),
                   " steps with values from ", FormatAbout(fit.least_value), " to ", FormatAbout(fit.most_value), ".");
  if (line.bend_value) {
    absl::StrAppend(&text, " Steps with values below ", FormatAbout(*line.bend_value), " peak at ",
                    FormatByteCount(line.floor_bytes.value_or(0)), ", whatever their value.");
  }
  std::vector<std::string> needs;
  for (const ReportValueFit::Prediction& predicted : line.predictions) {
    needs.push_back(absl::StrCat("a value of ", FormatAbout(predicted.value), " needs ",
                                 FormatByteCount(predicted.bytes), IntervalText("", predicted.low, predicted.high),
                                 FitText(predicted)));
  }
  if (!needs.empty()) absl::StrAppend(&text, " If larger values follow this line, ", absl::StrJoin(needs, "; "), ".");
  if (line.largest_value) {
    absl::StrAppend(&text, " The device has room for values up to ", FormatAbout(*line.largest_value),
                    line.more_may_fit ? " at least." : ".");
  } else if (line.limit_bytes) {
    absl::StrAppend(&text, " The device has no room for any value.");
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

std::string ReleaseTimeText(const ReportRelease& release) {
  std::string text;
  if (release.timed > 0) {
    text = absl::StrCat(FormatSeconds(release.seconds_at_least), " to ", FormatSeconds(release.seconds_at_most), " in ",
                        Plural(release.timed, "call", "calls"));
  }
  if (release.extra_seconds) {
    const double extra = *release.extra_seconds;
    absl::StrAppend(&text, text.empty() ? "" : "; ", "a step with a call and the next step take ",
                    FormatSeconds(std::fabs(extra)), extra < 0 ? " less" : " more", " than two others (");
    if (release.extra_low <= 0 && release.extra_high >= 0) {
      absl::StrAppend(&text, "not more than chance)");
    } else {
      const double near = std::min(std::fabs(release.extra_low), std::fabs(release.extra_high));
      const double far = std::max(std::fabs(release.extra_low), std::fabs(release.extra_high));
      absl::StrAppend(&text, "95 % CI ", FormatSeconds(near), " to ", FormatSeconds(far), ")");
    }
  }
  return text;
}

}  // namespace vramtrack
