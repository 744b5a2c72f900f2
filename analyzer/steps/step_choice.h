// SPDX-License-Identifier: Apache-2.0
//
// Chooses which of the recurring events of a run are its steps. The input is candidates, the output is phases.
//
// Every source of marks is a hypothesis. The choice is by coverage: the share of the run that the marks divide into
// steps, measured by the run's work and active time. Among sources with about the same coverage, the most trusted one
// is preferred. Of one source, the outermost loop with enough steps for a verdict is preferred. If a more trusted
// source covers the run up to its last mark, the part after that mark is a phase of its own. If no candidate covers the
// run, candidates that follow each other in time become its phases. A part that no phase covers is divided into windows
// if enough happens there, so that it is judged as well. Otherwise it is left unjudged.
#ifndef ANALYZER_STEPS_STEP_CHOICE_H_
#define ANALYZER_STEPS_STEP_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/steps/run_clock.h"

namespace vramtrack {

// The trust in a source of marks, most trusted first.
enum class MarkTrust {
  kStepCall,       // vramtrack_step
  kRange,          // a named range that contains nearly everything between its first and its last occurrence
  kOptimizer,      // the steps of one optimizer
  kAnyOptimizer,   // the steps of all optimizers together
  kPartRange,      // a range that contains half of what happens
  kConfirmedName,  // a name without a range that occurs as often as the stream of allocations repeats
  kPeriodicity,    // the stream of allocations repeats
  kLooseName,      // a name, or a range that contains little: a part of a step, or an occasional event
};

struct StepCandidate {
  StepSource source = StepSource::kNone;
  std::string name;  // name of the range, with "#" for numbers; empty if it has none
  MarkTrust trust = MarkTrust::kLooseName;
  std::vector<uint64_t> times;  // times of its marks, ascending, in ticks
  double held = 0;  // for ranges: the share of what happens from the first to the last one that happens inside them
};

// The most usual distances that a distance between two marks counts for.
constexpr double kLongestGap = 4;

// Returns the share of [begin, end) that these marks divide into steps, by one clock. A distance between two marks
// counts for at most `longest_gap` usual ones; the parts before the first mark and after the last one, for at most
// kLongestGap.
double CoverageOf(const std::vector<double>& marks, double begin, double end, double longest_gap = kLongestGap);

// Returns the share of [begin, end) in which a leak would be seen: as CoverageOf, but long distances between marks
// count in full if they come again and again throughout, such as the rollouts between the optimizer's steps. What is
// done in them belongs to a step, and is judged with it.
double JudgedShareOf(const std::vector<double>& marks, double begin, double end);

struct ChosenPhase {
  enum class Kind { kSteps, kWindows, kUnjudged };

  Kind kind = Kind::kUnjudged;
  // For kSteps: the index of the candidate, and the range of its marks, [first_mark, end_mark).
  size_t candidate = 0, first_mark = 0, end_mark = 0;
  std::vector<uint64_t> cuts;   // for kWindows: where windows end, except the last one
  uint64_t begin = 0, end = 0;  // ticks
  double work = 0, time = 0;    // its shares of the run's work and active time
  double coverage = 0;          // share of the run that its steps or windows cover

  double share() const { return (work + time) / 2; }
};

struct StepChoice {
  std::vector<ChosenPhase> phases;  // by time, without overlap; empty if there are no steps and too little happens
  double coverage = 0;              // share of the run that steps cover
  double judged = 0;                // share of the run that steps or windows cover
  // The next best candidate, if one covers at least half of the run.
  std::optional<size_t> runner_up;
};

// The steps that a verdict needs, with a reserve for objects that live for a few steps.
constexpr size_t kEnoughSteps = 30;
// The number of windows that replace steps. Each contains a part of what the run does repeatedly. Smaller windows would
// be empty by chance; fewer would not be enough evidence.
struct WindowLimits {
  size_t most, fewest;
  double work;  // short-lived objects in a window; 0: any number
};
constexpr WindowLimits kWindows = {100, 32, 8};
// Windows that show who grows, but prove nothing.
constexpr WindowLimits kRoughWindows = {32, 6, 0};

// Divides the part [begin, end) of the run into windows of equal work and active time, and returns the cuts; empty if
// too little happens there.
std::vector<uint64_t> CutIntoWindows(const RunClock& clock, uint64_t begin, uint64_t end,
                                     WindowLimits limits = kWindows);

StepChoice ChooseSteps(const std::vector<StepCandidate>& candidates, const RunClock& clock);

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_STEP_CHOICE_H_
