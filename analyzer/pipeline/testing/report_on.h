// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PIPELINE_TESTING_REPORT_ON_H_
#define ANALYZER_PIPELINE_TESTING_REPORT_ON_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/pipeline/analyze.h"

namespace vramtrack {

// The report on a job of so many traces, each the bytes of a file. The test fails if there is none.
inline Report ReportOn(const std::vector<std::string>& traces, const AnalyzeOptions& options = {}) {
  TestFolder folder;
  absl::StatusOr<Report> report = Analyze(folder.WriteAll(traces), options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

}  // namespace vramtrack

#endif  // ANALYZER_PIPELINE_TESTING_REPORT_ON_H_
