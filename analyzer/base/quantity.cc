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

std::string FormatPercent(double share) {
  return share > 0 && share < 1e-4 ? "< 0.01 %" : FormatAbout(100 * share) + " %";
}

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "unknown";
  if (seconds > 0 && seconds < 0.0995) return absl::StrFormat("%.3g ms", 1000 * seconds);
  if (seconds < 99.5) return absl::StrFormat("%.3g s", seconds);
  auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 3600) return absl::StrCat(whole / 60, " min ", whole % 60, " s");
  return absl::StrCat(FormatCount(whole / 3600), " h ", whole % 3600 / 60, " min");
}

std::string Plural(uint64_t count, const std::string& one, const std::string& several) {
  return absl::StrCat(FormatCount(count), " ", count == 1 ? one : several);
}

namespace {

constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
constexpr int kUnitCount = sizeof(kUnits) / sizeof(kUnits[0]);

// The unit in which `bytes` is written with at most four digits before the point.
int UnitOf(double bytes) {
  int unit = 0;
  for (double left = std::fabs(bytes); left >= 1023.5 && unit + 1 < kUnitCount; left /= 1024) ++unit;
  return unit;
}

std::string InUnit(double bytes, int unit) {
  double value = bytes / std::pow(1024.0, unit);
  double size = std::fabs(value);
  if (size >= 99.95 || (unit == 0 && value == std::floor(value))) return absl::StrFormat("%.0f", value);
  return size >= 9.995 ? absl::StrFormat("%.1f", value) : absl::StrFormat("%.2f", value);
}

}  // namespace

std::string FormatByteCount(double bytes) {
  if (!std::isfinite(bytes)) return "unknown";
  int unit = UnitOf(bytes);
  return absl::StrCat(InUnit(bytes, unit), " ", kUnits[unit]);
}

std::string FormatByteRange(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high))
    return absl::StrCat(FormatByteCount(low), " to ", FormatByteCount(high));
  int unit = UnitOf(high);
  if (low != 0 && UnitOf(low) != unit) return absl::StrCat(FormatByteCount(low), " to ", FormatByteCount(high));
  return absl::StrCat(InUnit(low, unit), " to ", InUnit(high, unit), " ", kUnits[unit]);
}

std::string FormatByteInterval(double low, double high) {
  if (FormatByteCount(low) == FormatByteCount(high)) return "";
  return absl::StrCat("95 % CI ", FormatByteRange(low, high));
}

}  // namespace vramtrack
