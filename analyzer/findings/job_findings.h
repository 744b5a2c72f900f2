// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_JOB_FINDINGS_H_
#define ANALYZER_FINDINGS_JOB_FINDINGS_H_

#include <vector>

#include "analyzer/findings/process_findings.h"
#include "analyzer/report.h"

namespace vramtrack {

// Puts the findings of a job's processes together. The same site in several processes becomes one, with the sum of
// their figures; a device number that several processes use is described by the process that held most of it.
Report JoinFindings(std::vector<ProcessFindings> processes);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_JOB_FINDINGS_H_
