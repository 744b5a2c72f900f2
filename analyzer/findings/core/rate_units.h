// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_RATE_UNITS_H_
#define ANALYZER_FINDINGS_CORE_RATE_UNITS_H_

#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

constexpr double kRateBytes = 1 << 30;  // bytes of RateUnit::kGiB

// Adds rates per second to `sites`, whose rates are per step. If windows replace steps, converts the rates to rates
// per GiB allocated.
void SetRateUnits(const ProcessAnalysis& analysis, std::vector<ReportSite>* sites);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_RATE_UNITS_H_
