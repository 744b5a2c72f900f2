// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limits.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {

const std::vector<LimitKind> kLimitKinds = {
    {"leak", "leak", LimitUnit::kBytesPerStep, &Limits::leak, true, false},
    {"leak_objects", "leak", LimitUnit::kObjectsPerStep, &Limits::leak_objects, true, false},
    {"leak_total", "leak-total", LimitUnit::kBytesPerStep, &Limits::leak_total, true, true},
    {"peak", "peak", LimitUnit::kBytes, &Limits::peak, true, true},
    {"reserved", "reserved", LimitUnit::kBytes, &Limits::reserved, true, false},
    {"device_used", "device-used", LimitUnit::kBytes, &Limits::device_used, true, false},
    {"growth", "growth", LimitUnit::kBytesPerStep, &Limits::growth, true, true},
    {"fragmentation", "fragmentation", LimitUnit::kBytesOrShare, &Limits::fragmentation, true, false},
    {"steps_to_oom", "time-to-oom", LimitUnit::kSteps, &Limits::steps_to_oom, true, false},
};

namespace {

// Beyond any device, and still exact in a double.
constexpr double kMostBytes = 9007199254740992.0;  // 2^53

struct Unit {
  const char* name;
  double bytes;
};
constexpr Unit kUnits[] = {
    {"", 1},
    {"b", 1},
    {"kib", 1024.0},
    {"k", 1024.0},
    {"kb", 1e3},
    {"mib", 1 << 20},
    {"m", 1 << 20},
    {"mb", 1e6},
    {"gib", 1 << 30},
    {"g", 1 << 30},
    {"gb", 1e9},
    {"tib", 1.0 * (uint64_t{1} << 40)},
    {"t", 1.0 * (uint64_t{1} << 40)},
    {"tb", 1e12},
};

struct RateEnd {
  const char* text;
  RatePer per;
};
// What is part of another comes later.
constexpr RateEnd kRateEnds[] = {
    {"/step", RatePer::kStep},     {"per step", RatePer::kStep},
    {"/gib", RatePer::kGiB},       {"per gib allocated", RatePer::kGiB},
    {"per gib", RatePer::kGiB},    {"/s", RatePer::kSecond},
    {"/second", RatePer::kSecond}, {"per second", RatePer::kSecond},
};

const char* Kind(LimitUnit unit) {
  switch (unit) {
    case LimitUnit::kBytes:
      return "size such as 500 MiB or 2 GiB";
    case LimitUnit::kBytesPerStep:
      return "rate such as 64 KiB/step, 16 MiB/GiB, 4 KiB/s or 0";
    case LimitUnit::kObjectsPerStep:
      return "number of objects per step such as 2 or 0.5/step";
    case LimitUnit::kBytesOrShare:
      return "size or share such as 2 GiB or 10 %";
    case LimitUnit::kSteps:
      break;
  }
  return "number of steps";
}

std::string Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

bool TakeEnd(std::string_view end, std::string* text) {
  if (text->size() < end.size() || text->compare(text->size() - end.size(), end.size(), end) != 0) return false;
  *text = Trimmed(text->substr(0, text->size() - end.size()));
  return true;
}

absl::Status NoLimit(std::string_view text, LimitUnit unit) {
  return absl::InvalidArgumentError(absl::StrCat("is ", Printable(text), ", which is no ", Kind(unit)));
}

bool IsRate(LimitUnit unit) { return unit == LimitUnit::kBytesPerStep || unit == LimitUnit::kObjectsPerStep; }
bool HasBytes(LimitUnit unit) { return unit != LimitUnit::kObjectsPerStep && unit != LimitUnit::kSteps; }

}  // namespace

absl::StatusOr<Limit> ParseLimit(std::string_view text, LimitUnit unit) {
  std::string left = Trimmed(text);
  for (char& c : left) c = absl::ascii_tolower(static_cast<unsigned char>(c));
  Limit limit;
  for (const RateEnd& end : kRateEnds) {
    if (!TakeEnd(end.text, &left)) continue;
    if (!IsRate(unit)) return NoLimit(text, unit);
    limit.per = end.per;
    break;
  }
  limit.share = unit == LimitUnit::kBytesOrShare && TakeEnd("%", &left);
  const size_t digits = std::min(left.size(), left.find_first_not_of("0123456789."));
  double number = 0;
  const auto [end, error] = absl::from_chars(left.data(), left.data() + digits, number, absl::chars_format::fixed);
  if (error != std::errc() || end != left.data() + digits || !std::isfinite(number)) return NoLimit(text, unit);
  const std::string name = Trimmed(left.substr(digits));
  for (const Unit& one : kUnits) {
    if (name != one.name || (!name.empty() && (limit.share || !HasBytes(unit)))) continue;
    limit.value = number * (limit.share ? .01 : one.bytes);
    if (limit.value > (limit.share ? 1 : kMostBytes)) {
      return absl::InvalidArgumentError(absl::StrCat("is ", Printable(text), ", which is more than there can be"));
    }
    return limit;
  }
  return NoLimit(text, unit);
}

absl::StatusOr<Limit> LimitOfNumber(double value, LimitUnit unit) {
  if (!(value >= 0) || value > kMostBytes) return NoLimit(absl::StrCat(value), unit);
  Limit limit;
  limit.value = value;
  return limit;
}

const char* PerName(RatePer per) {
  switch (per) {
    case RatePer::kGiB:
      return "GiB allocated";
    case RatePer::kSecond:
      return "second";
    default:
      return "step";
  }
}

std::string FormatValue(double value, LimitUnit unit, bool share, RatePer per) {
  if (share) return absl::StrFormat("%.3g %%", 100 * value);
  switch (unit) {
    case LimitUnit::kBytesPerStep:
      return absl::StrCat(FormatByteCount(value), " per ", PerName(per));
    case LimitUnit::kObjectsPerStep:
      return absl::StrCat(FormatAbout(value), " objects per ", PerName(per));
    case LimitUnit::kSteps:
      return FormatAbout(value) + " steps";
    default:
      return FormatByteCount(value);
  }
}

std::string FormatLimit(const Limit& limit, LimitUnit unit) {
  return FormatValue(limit.value, unit, limit.share, limit.per);
}

absl::StatusOr<absl::CivilDay> ParseDay(std::string_view text) {
  absl::CivilDay day;
  if (text.size() == 10 && absl::ParseCivilTime(std::string(text), &day) &&
      absl::FormatCivilTime(day) == std::string(text)) {
    return day;
  }
  return absl::InvalidArgumentError(absl::StrCat(Printable(text), " is no date such as 2026-12-31"));
}

}  // namespace vramtrack
