// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_SUMMARY_INFO_H_
#define ANALYZER_CLI_SUMMARY_INFO_H_

#include <string>

#include "analyzer/render/text/page.h"

namespace vramtrack {

// Writes what `info` shows of the summary at `path`. Throws CommandFailure.
void WriteSummaryInfo(const std::string& path, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_SUMMARY_INFO_H_
