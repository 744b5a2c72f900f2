// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CHECK_JUDGE_H_
#define ANALYZER_CHECK_JUDGE_H_

#include <set>
#include <string>

#include "absl/time/civil_time.h"
#include "analyzer/check/limits.h"
#include "analyzer/model/check_report.h"
#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {

struct CheckOptions {
  Budgets budgets;
  std::set<std::string> fail_on;  // rule ids; empty: all
  absl::CivilDay today;
};

// Judges a run. Without a budget for leaks, every leak that is not minor fails; with one, leaks above it fail. With a
// diff, only leaks that are new or faster fail, and other regressions; limits apply to the run itself, as without a
// diff. A baseline that cannot be compared counts as too little evidence. Pure and deterministic. The file and line of
// findings are as in the report.
CheckReport Check(const Report& report, const DiffReport* diff, const CheckOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_JUDGE_H_
