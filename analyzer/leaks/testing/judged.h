// SPDX-License-Identifier: Apache-2.0
//
// Judges the history of one site by itself, as its line is judged in a run.
#ifndef ANALYZER_LEAKS_TESTING_JUDGED_H_
#define ANALYZER_LEAKS_TESTING_JUDGED_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/posterior.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {

struct Judged {
  bool leak = false, unsure = false;  // neither: clean
  bool any = false;                   // there was something to judge
  Posterior posterior;                // if `any`
  Rate rate;                          // if `any`
  bool clean() const { return !leak && !unsure; }
};

// Judges by the objects that survived. `keepers`: see JudgeEvidence.
Judged JudgeHistory(const SiteHistory& history, Step steps, double keepers = 0);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_TESTING_JUDGED_H_
