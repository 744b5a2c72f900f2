// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_JOIN_DIFFS_H_
#define ANALYZER_DIFF_JOIN_DIFFS_H_

#include "analyzer/model/diff_report.h"

namespace vramtrack {

// Adds what was found in one more process of a job. The same change at the same place of several processes becomes one,
// with the sum of their values; of a device number that several use, the one that holds most is described.
void JoinDiffs(DiffReport one, DiffReport* job);

// Leaks first, then the largest change.
void SortFindings(DiffReport* report);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_JOIN_DIFFS_H_
