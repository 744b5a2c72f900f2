// SPDX-License-Identifier: Apache-2.0
//
// How much a site allocates, early and late in a run: whether its objects become larger or more.
#ifndef ANALYZER_LEAKS_BIRTHS_H_
#define ANALYZER_LEAKS_BIRTHS_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/windows.h"

namespace vramtrack {

struct Births {
  uint64_t objects = 0, bytes = 0;
};

// The total that a site had allocated before step 8, 16, 32, ...; the last entry is the total of the run.
using BirthTotals = std::vector<Births>;

// Adds the totals before `step`, which must not decrease, to those of the steps that are missing. Constant time on
// average.
void NoteBirths(Step step, Births before, BirthTotals* totals);
// Returns the totals of a run of `steps` steps, with the total of the run.
BirthTotals CompleteBirths(BirthTotals totals, Step steps, Births all);
// Adds totals of the same run.
void AddBirths(const BirthTotals& more, BirthTotals* sum);

// Returns the mean size of the objects of the later part of the run, divided by that of the earlier part. The first
// eighth of the run is left out. Returns 0 if there are too few objects. `totals` must be complete.
double SizeRatio(const BirthTotals& totals, Step steps);
// Returns the same for the number of objects in a step.
double NumberRatio(const BirthTotals& totals, Step steps);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_BIRTHS_H_
