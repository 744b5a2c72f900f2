// SPDX-License-Identifier: Apache-2.0
//
// Limits as people write them: "2 GiB", "500 MiB/step", "10 %".
#ifndef ANALYZER_CHECK_LIMIT_TEXT_H_
#define ANALYZER_CHECK_LIMIT_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "analyzer/check/limits.h"

namespace vramtrack {

// The limit without its place. A plain number has the base unit. Rates are "/step", which may be left out, "/GiB"
// (allocated) or "/s"; units are powers of 1024 (K, KiB) or of 1000 (kB, MB, GB). The error is a phrase that follows
// the name of the key: "is 5 GiBs, which is no size such as 500 MiB or 2 GiB".
absl::StatusOr<Limit> ParseLimit(std::string_view text, LimitUnit unit);

// A limit that is a number in the file, too.
absl::StatusOr<Limit> LimitOfNumber(double value, LimitUnit unit);

// "2.00 GiB", "500 MiB per step", "10 %", "100,000 steps".
std::string FormatLimit(const Limit& limit, LimitUnit unit);
std::string FormatValue(double value, LimitUnit unit, bool share = false, RatePer per = RatePer::kStep);
// "step", "GiB allocated", "second".
const char* PerName(RatePer per);

// "YYYY-MM-DD".
absl::StatusOr<absl::CivilDay> ParseDay(std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_LIMIT_TEXT_H_
