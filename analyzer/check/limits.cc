// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limits.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {

namespace {

// Beyond any device, and still exact in a double.
constexpr double kMostBytes = 9007199254740992.0;  // 2^53

struct Unit {
  const char* name;
  double value;  // in bytes or in seconds
};
constexpr Unit kTimeUnits[] = {
    {"s", 1}, {"seconds", 1}, {"min", 60}, {"minutes", 60}, {"h", 3600}, {"hours", 3600}, {"days", 86400},
};
constexpr Unit kUnits[] = {
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

// What a value is called, and values that are right; by LimitUnit.
struct Expected {
  const char* noun;
  const char* examples;
};
constexpr Expected kExpected[] = {{"size", "500 MiB, 2 GiB"},
                                  {"rate", "64 KiB/step, 16 MiB/GiB, 4 KiB/s, 0"},
                                  {"number of objects per step", "2, 0.5/step"},
                                  {"size or percentage", "2 GiB, 75 %"},
                                  {"number of steps", "1000, 100000"},
                                  {"duration", "90 s, 30 min, 2 h"},
                                  {"number of contexts", "1, 8"}};

const Expected& ExpectedOf(LimitUnit unit) { return kExpected[static_cast<size_t>(unit)]; }

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

absl::Status InvalidLimit(std::string_view text, LimitUnit unit) {
  const Expected& expected = ExpectedOf(unit);
  return absl::InvalidArgumentError(
      absl::StrCat("invalid ", expected.noun, " '", Printable(text), "' (examples: ", expected.examples, ")"));
}

bool IsRate(LimitUnit unit) { return unit == LimitUnit::kBytesPerStep || unit == LimitUnit::kObjectsPerStep; }
bool HasBytes(LimitUnit unit) {
  return unit != LimitUnit::kObjectsPerStep && unit != LimitUnit::kContexts && !IsLeast(unit);
}

}  // namespace

absl::StatusOr<Limit> ParseLimit(std::string_view text, LimitUnit unit) {
  std::string left = Trimmed(text);
  for (char& c : left) c = absl::ascii_tolower(static_cast<unsigned char>(c));
  Limit limit;
  for (const RateEnd& end : kRateEnds) {
    if (!TakeEnd(end.text, &left)) continue;
    if (!IsRate(unit)) return InvalidLimit(text, unit);
    limit.per = end.per;
    break;
  }
  limit.share = unit == LimitUnit::kBytesOrShare && TakeEnd("%", &left);
  const size_t digits = std::min(left.size(), left.find_first_not_of("0123456789."));
  double number = 0;
  const auto [end, error] = absl::from_chars(left.data(), left.data() + digits, number, absl::chars_format::fixed);
  if (error != std::errc() || end != left.data() + digits || !std::isfinite(number)) return InvalidLimit(text, unit);
  const std::string name = Trimmed(left.substr(digits));
  const bool time = unit == LimitUnit::kSeconds;
  const bool needs_unit = HasBytes(unit) && !limit.share;
  double scale = limit.share ? .01 : 1;
  if (!name.empty()) {
    if (!time && !needs_unit) return InvalidLimit(text, unit);
    const absl::Span<const Unit> units = time ? absl::MakeConstSpan(kTimeUnits) : absl::MakeConstSpan(kUnits);
    const auto known = std::find_if(units.begin(), units.end(), [&](const Unit& one) { return name == one.name; });
    if (known == units.end()) return InvalidLimit(text, unit);
    scale = known->value;
  } else if (needs_unit && number != 0) {
    return InvalidLimit(text, unit);
  }
  limit.value = number * scale;
  if (limit.value > (limit.share ? 1 : kMostBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid ", ExpectedOf(unit).noun, " '", Printable(text), "' (too large)"));
  }
  return limit;
}

absl::StatusOr<Limit> LimitOfNumber(double value, LimitUnit unit) {
  const bool needs_unit = HasBytes(unit) && value != 0;
  if (!(value >= 0) || value > kMostBytes || needs_unit) return InvalidLimit(absl::StrCat(value), unit);
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
    case LimitUnit::kSeconds:
      return FormatSeconds(value);
    case LimitUnit::kContexts:
      return Plural(static_cast<uint64_t>(value), "context", "contexts");
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
  return absl::InvalidArgumentError(absl::StrCat("invalid date '", Printable(text), "' (example: 2026-12-31)"));
}

}  // namespace vramtrack
