// SPDX-License-Identifier: Apache-2.0
//
// What a line leaves behind, as the model of a leak reads it. There are two kinds of evidence, and both have this form:
// the objects that survived, by step of birth; and the rises of what the line holds at the quietest moment of each
// step, each of which is a survivor that replaced nothing.
#ifndef ANALYZER_LEAKS_EVIDENCE_H_
#define ANALYZER_LEAKS_EVIDENCE_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {

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

#endif  // ANALYZER_LEAKS_EVIDENCE_H_
