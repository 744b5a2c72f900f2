// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_SEQUENCE_COMPARISON_H_
#define ANALYZER_DIFF_SEQUENCE_COMPARISON_H_

#include "analyzer/diff/compared_pair.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// Whether two processes allocated and freed the same in the same order, and where they parted, as far as that is known.
// After MeasureSteps().
void CompareSequences(const ComparedPair& pair, DiffReport* report);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SEQUENCE_COMPARISON_H_
