// SPDX-License-Identifier: Apache-2.0
//
// The rhythm in which a site has left objects behind so far: whether it goes on, and what the site will look like if it
// does. What is set up once is born in a few steps and then no more; what leaks now and then is as old as its gaps are
// long.
#ifndef ANALYZER_LEAKS_RHYTHM_H_
#define ANALYZER_LEAKS_RHYTHM_H_

#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/survivors.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

struct Rhythm {
  SurvivorSeries survivors;  // by step; those of set-up are not among them
  Step end = 0;              // up to this step, not including it, survivors are known
};

// Of a site whose steps up to `tested_end` can be judged. The objects of later steps count as well if nothing of the
// site was ever freed, for then nothing speaks for a free to come.
Rhythm RhythmOf(const SiteHistory& history, const RunShape& run, Step tested_end);

// Whether what is known since the last survivor is no longer than the gaps before would make it: two survivors that are
// as far from each other as from both ends of the run, or more at gaps that are alike.
bool GoesOn(const Rhythm& rhythm);

// Whether its gaps are equal as well, of three survivors at least: nothing that fills does that.
bool IsRegular(const Rhythm& rhythm);

// The site and the run after `steps` steps in all, more than there are, if the rhythm goes on: the gaps and what came
// after each of them come back, in turn where they are equal and in another order where they are not. A single survivor
// is taken to come back as late as it came. `order`: which other order.
SiteHistory Extended(const SiteHistory& history, const Rhythm& rhythm, Step steps, uint64_t order = 0);
RunShape Extended(const RunShape& run, Step steps);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_RHYTHM_H_
