// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/quantity.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace vramtrack {
namespace {

std::string WithCommas(std::string digits) {
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

}  // namespace

std::string FormatCount(uint64_t count) { return WithCommas(absl::StrCat(count)); }

std::string FormatAbout(double number) {
  if (!std::isfinite(number)) return "unknown";
  if (number < 0) return "-" + FormatAbout(-number);
  if (number >= 1e12 || (number > 0 && number < 0.01)) return absl::StrFormat("%.2g", number);
  if (number < 99.95) return absl::StrFormat("%.3g", number);
  double scale = std::pow(10.0, std::floor(std::log10(number)) - 2);
  return WithCommas(absl::StrFormat("%.0f", std::round(number / scale) * scale));
}

std::string FormatTimeToFull(double steps) {
  if (!std::isfinite(steps)) return "";
  if (steps < 1) return "full already";
  return absl::StrCat("full in ", FormatAbout(steps), steps == 1 ? " step" : " steps");
}

std::string FormatPercent(double share) { return FormatAbout(100 * share) + " %"; }

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "unknown";
  if (seconds < 99.5) return absl::StrFormat("%.3g s", seconds);
  auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 3600) return absl::StrCat(whole / 60, " min ", whole % 60, " s");
  return absl::StrCat(FormatCount(whole / 3600), " h ", whole % 3600 / 60, " min");
}

std::string Plural(uint64_t count, const std::string& one, const std::string& several) {
  return absl::StrCat(FormatCount(count), " ", count == 1 ? one : several);
}

}  // namespace vramtrack
