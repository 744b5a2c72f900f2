// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CHECK_EXCEPTIONS_H_
#define ANALYZER_CHECK_EXCEPTIONS_H_

#include <string>
#include <vector>

#include "analyzer/check/limits.h"
#include "analyzer/model/check_report.h"

namespace vramtrack {

// Exceptions, and which of them were of use. Thread-compatible.
class ExceptionList {
 public:
  // `exceptions` must outlive it.
  ExceptionList(const std::vector<CheckException>& exceptions, absl::CivilDay today)
      : exceptions_(exceptions), today_(today), used_(exceptions.size()) {}

  // Excepts a finding that an exception is for. One that has expired, or that is for less, changes the message only.
  void Apply(CheckFinding* finding);

  // One line for each exception that was for none of the findings.
  std::vector<std::string> Unused() const;

 private:
  const std::vector<CheckException>& exceptions_;
  absl::CivilDay today_;
  std::vector<bool> used_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_EXCEPTIONS_H_
