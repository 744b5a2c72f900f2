// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SUMMARY_VALID_FINDINGS_H_
#define ANALYZER_SUMMARY_VALID_FINDINGS_H_

#include "analyzer/model/process_findings.h"

namespace vramtrack {

// Throws std::runtime_error if an index is of nothing or columns differ in length: what joins and renders findings
// relies on it, and a summary may come from anywhere.
void CheckFindings(const ProcessFindings& findings);

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_VALID_FINDINGS_H_
