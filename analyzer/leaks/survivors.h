// SPDX-License-Identifier: Apache-2.0
//
// The objects that the steps of a span left behind: the series that all leak tests use, whether those of two sites are
// alike, as of sites of one leak, and what the model of a leak reads from them.
#ifndef ANALYZER_LEAKS_SURVIVORS_H_
#define ANALYZER_LEAKS_SURVIVORS_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// The survivors of one step.
struct Survivors {
  Step step = 0;
  uint32_t objects = 0;
  uint64_t bytes = 0;
};

// Survivors by step, ascending; only steps with survivors.
using SurvivorSeries = std::vector<Survivors>;

// Returns the survivors of `history` that were allocated in `span`.
SurvivorSeries SurvivorsIn(const SiteHistory& history, StepSpan span);

// Returns the part of `series` within `span`.
SurvivorSeries Within(const SurvivorSeries& series, StepSpan span);

struct SurvivorTotal {
  uint64_t objects = 0;
  uint64_t bytes = 0;
  uint64_t steps = 0;  // steps with survivors
};

SurvivorTotal TotalOf(const SurvivorSeries& series);

// Returns whether both series have survivors in the same steps of `span`, in at least four steps and with exceptions in
// at most one step of twenty. If survivors are rare, one series may be one step later throughout, because steps that
// are inferred from allocations may begin in the middle of a real one.
bool SameSteps(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span);

// Returns whether both also leave the same number of objects and bytes in each of these steps.
bool SameAmounts(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span);

// Returns the sum of both series.
SurvivorSeries SumOf(const SurvivorSeries& a, const SurvivorSeries& b);

// What a line leaves behind, as the model of a leak reads it. There are two kinds of evidence, and both have this form:
// the objects that survived, by step of birth; and the rises of what the line holds at the quietest moment of each
// step. Each rise counts as a survivor that replaced nothing.
struct Evidence {
  Step width = 1;       // of the run's steps, in one of these
  Step steps = 0;       // complete steps
  Step end = 0;         // survivors of the steps before this one are older than anything that was freed
  Step longest = 0;     // the longest life of an object that was freed, in steps
  double releases = 0;  // independent releases that show how long objects live; 0: nothing was freed
  bool drops = false;   // as many objects were freed as were kept
  SurvivorSeries left;  // of the steps before `end`
  uint64_t recent = 0;  // survivors of the steps from `end` on

  // The share of `left` that is older than ordinary objects, i.e. whether there is anything to judge.
  bool any() const { return end > 0 && !left.empty(); }
};

// Returns the evidence of surviving objects. `steps`: complete steps of the run, or of the part of it that is judged.
// Of the releases only those count that freed an object of at least half of the longest life: what dies young does not
// show how long the others live, and what dies in its step shows nothing. Releases of one step count once.
Evidence EvidenceOfSurvivors(const SiteHistory& history, Step steps);

// The same with one survivor a step at most: the objects of one step may have one cause.
Evidence OncePerStep(Evidence evidence);

// The same with objects of one size, so many that they come to the same bytes: objects that get larger are more of
// them.
Evidence InEqualObjects(Evidence evidence);

// Returns the evidence of growth. `levels`: what is held at the quietest moment of each step, or of each bin of
// `bin_steps` steps. A rise of the level that is never undone is a survivor; a fall releases what was added since the
// level was last as low. Steps of the result are bins.
Evidence EvidenceOfGrowth(const std::vector<uint64_t>& levels, Step bin_steps = 1);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SURVIVORS_H_
