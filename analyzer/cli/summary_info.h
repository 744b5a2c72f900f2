// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_SUMMARY_INFO_H_
#define ANALYZER_CLI_SUMMARY_INFO_H_

#include <string>

#include "absl/status/status.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

// What is in the summary at `path`, for `vramtrack info`. The error is one line.
absl::Status WriteSummaryInfo(const std::string& path, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_SUMMARY_INFO_H_
