// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_CARD_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_CARD_FINDINGS_H_

#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/card.h"

namespace vramtrack {

// Describes what the process had of each card whose UUID is known, over time.
std::vector<CardUse> DescribeCardUses(const ProcessAnalysis& analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_CARD_FINDINGS_H_
