// SPDX-License-Identifier: Apache-2.0
//
// Judges leaks in a trace that lost events. An allocation whose free was lost looks like one that is never freed. If
// events were lost throughout the run, this happens in step after step.
#ifndef ANALYZER_LEAKS_LOST_FREES_H_
#define ANALYZER_LEAKS_LOST_FREES_H_

#include "analyzer/leaks/cohort.h"
#include "analyzer/leaks/site_history.h"

namespace vramtrack {

// Changes a leak to insufficient_evidence if the frees of all its survivors may have been lost, given how many objects
// of the site are known to have been freed. `lost_share`: the share of all frees that was lost, 0 to 1. A site without
// any free stays a leak.
void DoubtWhatLossesExplain(const SiteHistory& history, double lost_share, LeakVerdict* verdict);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_LOST_FREES_H_
