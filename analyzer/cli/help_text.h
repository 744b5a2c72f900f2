// SPDX-License-Identifier: Apache-2.0
//
// What --help prints. By hand, for the help of the parser's versions differs.
#ifndef ANALYZER_CLI_HELP_TEXT_H_
#define ANALYZER_CLI_HELP_TEXT_H_

namespace vramtrack {

extern const char kOverview[];
extern const char kRunHelp[];
extern const char kReportHelp[];
extern const char kDiffHelp[];
extern const char kCheckHelp[];
extern const char kExportHelp[];
extern const char kSummarizeHelp[];
extern const char kMergeHelp[];
extern const char kInfoHelp[];
extern const char kDumpHelp[];

}  // namespace vramtrack

#endif  // ANALYZER_CLI_HELP_TEXT_H_
