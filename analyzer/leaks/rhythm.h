// SPDX-License-Identifier: Apache-2.0
//
// Analyses the rhythm in which a site has left objects behind so far: whether it continues, and what the site will look
// like if it does. Set-up leaves objects in a few steps and then stops. For an occasional leak, the time since the last
// survivor is about as long as the gaps between survivors.
#ifndef ANALYZER_LEAKS_RHYTHM_H_
#define ANALYZER_LEAKS_RHYTHM_H_

#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

struct Rhythm {
  SurvivorSeries survivors;  // by step; without those of set-up
  Step end = 0;              // survivors are known for the steps before this one
  bool drops = false;        // the site frees nearly all that it allocates
};

// Returns the rhythm of a site whose steps before `tested_end` can be judged. If no object of the site was ever freed,
// later steps count as well, because nothing suggests that their objects will be freed.
Rhythm RhythmOf(const SiteHistory& history, const RunShape& run, Step tested_end);

// Returns whether the time since the last survivor is not much longer than the gaps before it. Two survivors must also
// be about as far from each other as from both ends of the run, and three must have similar gaps. Of a site that frees
// nearly all that it allocates, two or three may come at random: set-up would not leave them, so more time must pass.
bool GoesOn(const Rhythm& rhythm);

// Returns whether the rhythm continues and the gaps between at least three survivors are equal to within one step. A
// cache that fills does not do that.
bool IsRegular(const Rhythm& rhythm);

// Return the site and the run as they will be after `steps` steps in all, if the rhythm continues. `steps` must be more
// than the run has. The gaps and their survivors repeat: in turn if the gaps are equal, otherwise in another order,
// which `order` selects. A single survivor is assumed to come again after as many steps as it first took.
SiteHistory Extended(const SiteHistory& history, const Rhythm& rhythm, Step steps, uint64_t order = 0);
RunShape Extended(const RunShape& run, Step steps);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_RHYTHM_H_
