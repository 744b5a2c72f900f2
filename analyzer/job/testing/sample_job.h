// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_TESTING_SAMPLE_JOB_H_
#define ANALYZER_JOB_TESTING_SAMPLE_JOB_H_

#include <cstdint>
#include <string>

#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Findings made by hand, for tests of what a job's report makes of them.

// A site of `frames` frames, whose innermost one tells it apart.
ReportSite SampleSite(const std::string& function, uint32_t device, Verdict verdict, double rate, int frames = 3);

// A rank of a job with eight devices a machine, without sites.
ProcessFindings SampleRank(int rank);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_TESTING_SAMPLE_JOB_H_
