// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CHECK_EXCEPTIONS_H_
#define ANALYZER_CHECK_EXCEPTIONS_H_

#include <string>
#include <vector>

#include "analyzer/check/limits.h"
#include "analyzer/model/check_report.h"

namespace vramtrack {

// The exceptions of a check, and which of them matched a finding. Thread-compatible.
class ExceptionList {
 public:
  // `exceptions` must outlive it.
  ExceptionList(const std::vector<CheckException>& exceptions, absl::CivilDay today)
      : exceptions_(exceptions), today_(today), used_(exceptions.size()) {}

  // Marks a finding as excepted if an exception matches it. An exception that has expired, or whose limit is exceeded,
  // only changes the message.
  void Apply(CheckFinding* finding);

  // Returns one line for each exception that matched no finding.
  std::vector<std::string> Unused() const;

 private:
  const std::vector<CheckException>& exceptions_;
  absl::CivilDay today_;
  std::vector<bool> used_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_EXCEPTIONS_H_
