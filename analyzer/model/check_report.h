// SPDX-License-Identifier: Apache-2.0
//
// What `check` found, as plain data: the renderers print it and compute nothing.
#ifndef ANALYZER_MODEL_CHECK_REPORT_H_
#define ANALYZER_MODEL_CHECK_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

constexpr int kCheckSchemaVersion = 1;

struct CheckFinding {
  enum class Status {
    kFailed,
    kWarning,   // of a rule that the caller does not fail on
    kExcepted,  // known, and put up with
  };

  std::string rule;  // id, see kCheckRules
  Status status = Status::kFailed;
  std::string subject;  // "device 0", "rank 3", "host memory", or the function that a site is named by
  std::string message;  // one sentence, without the place
  std::string site;     // id, as in the report; empty where it is about no site
  std::string key;      // the same in every run, whatever lines have moved
  std::optional<uint32_t> device;
  std::optional<int> rank;
  double value = 0;
  std::optional<double> limit;  // a budget, or the baseline's value
  std::string unit;  // "bytes", "bytes_per_step", "objects_per_step" (or _gib, _second), "share", "steps", "seconds"
  std::string file;  // of the line to look at, from the root of the sources where it is below it
  uint32_t line = 0;
  std::vector<ReportFrame> frames;  // most recent call first
  size_t naming_frame = 0;
  std::string reason;   // of the exception, also of one that has expired
  std::string expires;  // "2026-12-31", "never"; empty without an exception
  bool expired = false;
};

struct CheckedRule {
  enum class Result { kPassed, kFailed, kNotJudged };

  std::string rule;
  Result result = Result::kPassed;
  size_t checked = 0;  // sites, devices or ranks
  std::string note;    // why it was not judged
};

struct CheckReport {
  std::string tool_version;
  std::string trace, baseline;                  // as the caller named them; baseline is empty without one
  std::vector<CheckFinding> findings;           // in the order of the rules; the worst first
  std::vector<CheckedRule> rules;               // those that applied
  size_t failed = 0, warned = 0, excepted = 0;  // findings
  bool enough_evidence = true;
  std::string evidence_note;  // what is missing
  uint64_t steps = 0, sites = 0, devices = 0;
  std::vector<std::string> warnings;  // one line each
};

// 0 fine, 1 something failed, 3 nothing failed but there is too little evidence.
inline int ExitCodeOf(const CheckReport& report) { return report.failed > 0 ? 1 : report.enough_evidence ? 0 : 3; }

// What `check` looks for: the one table of its rules.

struct CheckRule {
  const char* id;
  const char* title;  // a phrase for a list: "Memory leak"
  const char* text;   // a sentence
  bool of_baseline;   // applies only with a baseline
};
extern const std::vector<CheckRule> kCheckRules;

// Null for an unknown id.
const CheckRule* FindRule(std::string_view id);

std::vector<std::string> RuleNames();

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_CHECK_REPORT_H_
