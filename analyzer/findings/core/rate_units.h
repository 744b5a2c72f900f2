// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_RATE_UNITS_H_
#define ANALYZER_FINDINGS_CORE_RATE_UNITS_H_

#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// What rates are per, see ReportSite::rate_unit.
constexpr char kPerStep[] = "step", kPerBytes[] = "GiB allocated";
constexpr double kRateBytes = 1 << 30;  // of the latter

// Says what the rates of `sites`, which are per step so far, come to in a second; and where windows stand for steps,
// turns them into rates per GiB allocated.
void SetRateUnits(const ProcessAnalysis& analysis, std::vector<ReportSite>* sites);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_RATE_UNITS_H_
