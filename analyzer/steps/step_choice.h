// SPDX-License-Identifier: Apache-2.0
//
// Which of all the things that recur in a run are its steps: candidates in, phases out.
//
// Every source of marks is a hypothesis. What decides is coverage: the share of the run that the marks cut into steps,
// by the run's work and by its active time. A source that is trusted more is preferred among those that cover about as
// much, and of one source the outermost loop that has enough steps for a verdict. Where no candidate covers the run,
// those that follow each other in time are its phases. What no phase covers is cut into windows if enough happens
// there, so that it is judged as well, and is left unjudged otherwise.
#ifndef ANALYZER_STEPS_STEP_CHOICE_H_
#define ANALYZER_STEPS_STEP_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/steps/run_clock.h"

namespace vramtrack {

// How much a source of marks is believed, the most first.
enum class MarkTrust {
  kStepCall,       // vramtrack_step
  kRange,          // a named range that holds nearly all that happens while it comes and goes
  kOptimizer,      // the steps of one optimizer
  kAnyOptimizer,   // of all optimizers together
  kPartRange,      // a range that holds half of what happens
  kConfirmedName,  // a name without a range that occurs as often as the stream of allocations repeats itself
  kPeriodicity,    // the stream of allocations repeats itself
  kLooseName,      // a name, or a range that holds little: it marks a part of a step, or something now and then
};

struct StepCandidate {
  std::string source;  // as in the report: "marks", "nvtx", "optimizer", "periodicity"
  std::string name;    // of a range, with "#" for numbers; empty: it has none
  MarkTrust trust = MarkTrust::kLooseName;
  std::vector<uint64_t> times;  // of its marks, ascending, in ticks
};

// A distance between marks counts for so many usual ones.
constexpr double kLongestGap = 4;

// The share of [begin, end) that these marks cut into steps, by one clock: a distance between two marks counts for
// `longest_gap` usual ones at most; what is before the first mark and after the last one, for kLongestGap.
double CoverageOf(const std::vector<double>& marks, double begin, double end, double longest_gap = kLongestGap);

struct ChosenPhase {
  enum class Kind { kSteps, kWindows, kUnjudged };

  Kind kind = Kind::kUnjudged;
  // Of kSteps: the candidate, and which of its marks are meant: [first_mark, end_mark).
  size_t candidate = 0, first_mark = 0, end_mark = 0;
  std::vector<uint64_t> cuts;   // of kWindows: where windows end but the last one
  uint64_t begin = 0, end = 0;  // ticks
  double work = 0, time = 0;    // shares of the run that lie in it
  double coverage = 0;          // share of the run that its steps or windows cover

  double share() const { return (work + time) / 2; }
};

struct StepChoice {
  std::vector<ChosenPhase> phases;  // by time, one after the other; empty: there are no steps and too little happens
  double coverage = 0;              // share of the run that steps cover
  double judged = 0;                // that steps or windows cover
  // The candidate that would have been next, if there was one that covers a half of the run at least.
  std::optional<size_t> runner_up;
};

// Steps that a verdict takes, with some to spare for objects that live for a few steps.
constexpr size_t kEnoughSteps = 30;
// Windows that stand for steps: each some of what the run does over and over. Small ones would hold nothing by chance,
// few ones would prove nothing.
constexpr size_t kMostWindows = 100, kFewestWindows = 32;
constexpr double kWorkInWindow = 8;

// Cuts the part [begin, end) of the run into windows of equal work and active time; empty if too little happens there.
std::vector<uint64_t> CutIntoWindows(const RunClock& clock, uint64_t begin, uint64_t end, size_t most = kMostWindows);

StepChoice ChooseSteps(const std::vector<StepCandidate>& candidates, const RunClock& clock);

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_STEP_CHOICE_H_
