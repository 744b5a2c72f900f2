// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/byte_count.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace vramtrack {
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

}  // namespace vramtrack
