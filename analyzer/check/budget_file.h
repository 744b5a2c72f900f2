// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CHECK_BUDGET_FILE_H_
#define ANALYZER_CHECK_BUDGET_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "analyzer/check/limits.h"

namespace vramtrack {

// A budgets file (TOML, docs/check.md). `path` names it in errors and places. The error is one line, that of the first
// mistake in the file: "budgets.toml:7: there is no key pek in [budget]: there are ...". What is not known is a
// mistake.
absl::StatusOr<Budgets> ParseBudgets(std::string_view text, const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_BUDGET_FILE_H_
