// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_CHOSEN_TRACES_H_
#define ANALYZER_CLI_CHOSEN_TRACES_H_

#include <string>

#include "analyzer/ingest/trace_choice.h"

namespace vramtrack {

// ChooseTraces, for a command: what is left out is said on stderr.
absl::StatusOr<TraceChoice> ChooseAndSay(const std::string& path, bool all_runs);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_CHOSEN_TRACES_H_
