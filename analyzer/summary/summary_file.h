// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SUMMARY_SUMMARY_FILE_H_
#define ANALYZER_SUMMARY_SUMMARY_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {

// Whether the file at `path` begins as summaries do; false if it cannot be read.
bool IsSummaryFile(const std::string& path);

// As Summary::Read.
absl::StatusOr<Summary> ReadSummaryFile(const std::string& path, std::string* damage);

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_FILE_H_
