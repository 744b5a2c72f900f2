// SPDX-License-Identifier: Apache-2.0
//
// What an analysis of one emulated run got right.
#ifndef TESTS_CORPUS_SCORE_H_
#define TESTS_CORPUS_SCORE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/model/report.h"
#include "tests/corpus/emulation.h"

namespace vramtrack::corpus {

enum class Variant { kLeaky, kFixed, kLookalike, kClean };

// One run to be made.
struct RunSpec {
  std::string suite, id;  // of the case
  Variant variant = Variant::kLeaky;
  Half half = Half::kTuning;
  JobShape shape;
  std::vector<Flow> flows;
  std::vector<std::string> right;             // verdicts of the watched sites; empty: none is compared
  std::optional<bool> reserve_grows = false;  // see Case
  RunOptions options;
};

// What one rule, ours or a rival's, makes of a run.
struct Detection {
  bool found = false;  // at least one true site is called a leak
  int false_sites = 0;
  int rank = 0;           // of the first true site, from 1; 0: not found
  int true_findings = 0;  // ours: in how many findings a report tells the leak
};

struct RunScore {
  Detection ours;
  std::vector<Detection> rivals;
  std::optional<double> rate_error;   // relative, of all true sites together
  bool exact_rate = false;            // the true rate has no randomness to it, and steps were found
  std::optional<bool> covered;        // by the interval
  std::optional<double> onset_error;  // steps
  std::vector<std::pair<std::string, std::string>> classes;  // of watched sites: the right one, and what was said
  bool class_right = true;
  bool reserve_right = true;  // of the device: whether what is reserved grows without need
  double step_f1 = 0;
  std::string step_source;
  std::vector<std::string> said;  // of the true sites: their verdicts; of false leaks: what they are
  int sites = 0;
};

// Emulates the run, analyses its trace in this process, and compares.
RunScore Score(const RunSpec& spec, AnalyzeOptions options = {});

// Of the true sites' verdicts and ranks alone.
Detection DetectionOf(const Report& report, const Emulation& run);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_SCORE_H_
