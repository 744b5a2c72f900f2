// SPDX-License-Identifier: Apache-2.0
//
// What a trace that lacks events can say of leaks. An allocation whose free is among what was lost looks kept for ever;
// if blocks were lost all along the run, it does so in step after step.
#ifndef ANALYZER_LEAKS_LOST_FREES_H_
#define ANALYZER_LEAKS_LOST_FREES_H_

#include "analyzer/leaks/cohort.h"
#include "analyzer/leaks/site_history.h"

namespace vramtrack {

// Makes insufficient_evidence of a leak whose survivors may all have been freed in what was lost, given how many
// objects of the site are known to have been freed. `lost_share`: of all frees, 0 to 1. A site of which nothing was
// ever freed stays a leak.
void DoubtWhatLossesExplain(const SiteHistory& history, double lost_share, LeakVerdict* verdict);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_LOST_FREES_H_
