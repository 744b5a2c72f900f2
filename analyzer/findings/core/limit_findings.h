// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_LIMIT_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_LIMIT_FINDINGS_H_

#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/device.h"
#include "analyzer/model/oom.h"

namespace vramtrack {

// Fills in the suggested limit of `device`, whose other figures must be complete. `oom`: all failed allocations.
void DescribeLimit(const ProcessAnalysis& analysis, const std::vector<ReportOom>& oom, ReportDevice* device);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_LIMIT_FINDINGS_H_
