// SPDX-License-Identifier: Apache-2.0
//
// The result of `check` as plain data: renderers print it and compute nothing.
#ifndef ANALYZER_MODEL_CHECK_REPORT_H_
#define ANALYZER_MODEL_CHECK_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/model/report.h"

namespace vramtrack {

constexpr int kCheckSchemaVersion = 1;

// The unit of a value that is checked.
enum class CheckUnit {
  kBytes,
  kBytesPerStep,
  kBytesPerGiB,
  kBytesPerSecond,
  kObjectsPerStep,
  kObjectsPerGiB,
  kObjectsPerSecond,
  kShare,
  kSteps,
  kSeconds,
  kContexts,
};
template <>
struct EnumNames<CheckUnit> {
  static constexpr const char* kNames[] = {"bytes",
                                           "bytes_per_step",
                                           "bytes_per_gib",
                                           "bytes_per_second",
                                           "objects_per_step",
                                           "objects_per_gib",
                                           "objects_per_second",
                                           "share",
                                           "steps",
                                           "seconds",
                                           "contexts"};
};

struct CheckFinding {
  enum class Status {
    kFailed,
    kWarning,   // by a rule that the caller does not fail on
    kExcepted,  // matched by an exception
  };

  std::string rule;  // id, see kCheckRules
  Status status = Status::kFailed;
  // "device 0", "rank 3", "host memory", or the function that names a site.
  std::string subject;
  std::string message;  // one sentence, without the place
  std::string site;     // site id, as in the report; empty if the finding is not about a site
  std::string key;      // identifies the finding across runs, even if lines have moved
  std::optional<uint32_t> device;
  std::optional<int> rank;
  double value = 0;
  std::optional<double> limit;  // the budget, or the baseline's value
  CheckUnit unit = CheckUnit::kBytes;
  // The file of the line to look at, relative to the root of the sources if it is below it.
  std::string file;
  uint32_t line = 0;
  std::vector<ReportFrame> frames;  // most recent call first
  size_t naming_frame = 0;
  std::string reason;   // of the exception, even if it has expired
  std::string expires;  // "2026-12-31", "never"; empty without an exception
  bool expired = false;
};

struct CheckedRule {
  enum class Result { kPassed, kFailed, kNotJudged };

  std::string rule;
  Result result = Result::kPassed;
  size_t checked = 0;  // number of sites, devices or ranks
  std::string note;    // why it was not judged
};

struct CheckReport {
  std::string tool_version;
  std::string trace, baseline;                  // paths as the caller gave them; baseline is empty without one
  std::vector<CheckFinding> findings;           // ordered by rule, worst first
  std::vector<CheckedRule> rules;               // those that applied
  size_t failed = 0, warned = 0, excepted = 0;  // numbers of findings
  bool enough_evidence = true;
  std::string evidence_note;  // what evidence is missing
  uint64_t steps = 0, sites = 0, devices = 0;
  std::vector<std::string> warnings;  // one line each
};

// Returns 0 if nothing failed, 1 if a finding failed, 3 if nothing failed but there is too little evidence.
inline int ExitCodeOf(const CheckReport& report) { return report.failed > 0 ? 1 : report.enough_evidence ? 0 : 3; }

// A rule of `check`. All rules are in the table kCheckRules.
struct CheckRule {
  const char* id;
  const char* title;  // a phrase for a list: "Memory leak"
  const char* text;   // a sentence
  bool of_baseline;   // true if it applies only with a baseline
};
extern const std::vector<CheckRule> kCheckRules;

// Returns the rule with this id; null if the id is unknown.
const CheckRule* FindRule(std::string_view id);

std::vector<std::string> RuleNames();

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_CHECK_REPORT_H_
