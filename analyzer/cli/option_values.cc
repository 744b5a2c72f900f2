// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/option_values.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "analyzer/base/input_file.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMostCategoryBytes = 1 << 20;

}  // namespace

absl::StatusOr<CategoryRules> ReadCategories(const std::string& path) {
  if (path.empty()) return CategoryRules();
  const absl::StatusOr<std::string> text = ReadInputFile(path, kMostCategoryBytes);
  if (!text.ok()) return text.status();
  return ParseCategoryRules(*text, path);
}

namespace {

constexpr uint64_t kLongest = 10'000;

// The milliseconds of an interval such as "30s" or "5m"; 0 if it is not one.
uint64_t MillisecondsOf(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = text.substr(digits);
  const uint64_t of_unit = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : unit == "h" ? 3'600'000 : 0;
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text.substr(0, digits), &number) || number > kLongest) return 0;
  return number * of_unit;
}

}  // namespace

std::string ReadHolderMoments(std::string& text) {
  if (text == "0") return "";
  const std::vector<std::string> known = {"growth", "oom", "exit", "request"};
  std::vector<std::string> moments;
  const auto add = [&moments](const std::string& moment) {
    if (std::find(moments.begin(), moments.end(), moment) == moments.end()) moments.push_back(moment);
  };
  uint64_t interval = 0;
  for (const auto piece : absl::StrSplit(text, ',')) {
    const std::string one(piece);
    if (one == "all" || one == "1") {
      for (const std::string& moment : known) add(moment);
    } else if (std::find(known.begin(), known.end(), one) != known.end()) {
      add(one);
    } else if (const uint64_t milliseconds = MillisecondsOf(one); milliseconds != 0) {
      if (interval != 0) return absl::StrCat("a second interval '", one, "' (expected one)");
      interval = milliseconds;
    } else {
      return absl::StrCat("unknown moment '", one, "' (expected ", absl::StrJoin(known, ", "),
                          ", an interval such as 30s, or all)");
    }
  }
  if (interval != 0) {
    moments.push_back(interval % 1000 != 0 ? absl::StrCat(interval, "ms") : absl::StrCat(interval / 1000, "s"));
  }
  text = absl::StrJoin(moments, ",");
  return "";
}

}  // namespace vramtrack
