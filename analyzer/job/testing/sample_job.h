// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_TESTING_SAMPLE_JOB_H_
#define ANALYZER_JOB_TESTING_SAMPLE_JOB_H_

#include <cstdint>
#include <string>

#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

inline constexpr uint64_t kMiB = 1 << 20;

// Makes findings by hand, for tests of a job's report.

// Returns a site with `frames` frames. The innermost one distinguishes it from other sites.
ReportSite SampleSite(const std::string& function, uint32_t device, Verdict verdict, double rate, int frames = 3);

// Returns a rank of a job with eight devices on each machine, without sites.
ProcessFindings SampleRank(int rank);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_TESTING_SAMPLE_JOB_H_
