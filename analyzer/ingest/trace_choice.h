// SPDX-License-Identifier: Apache-2.0
//
// Which traces of a folder belong together: a folder may hold several runs, and figures of two of them say nothing.
#ifndef ANALYZER_INGEST_TRACE_CHOICE_H_
#define ANALYZER_INGEST_TRACE_CHOICE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace vramtrack {

struct TraceChoice {
  std::vector<std::string> paths;  // sorted
  std::string left_out;            // one line on the other runs; empty: there are none
};

// The traces, or summaries, that `path` means; see ListTraces. Of a folder with several runs it is the newest, by when
// its first process began to record; all of them with `all_runs`. Traces without a run id are one run by themselves.
// A file that cannot be read is kept among the paths, so that its reader reports the error. The error here is one line
// that names the path.
absl::StatusOr<TraceChoice> ChooseTraces(const std::string& path, bool all_runs);

// That of a trace; empty if it has none, none if it cannot be read.
std::optional<std::string> RunIdOf(const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACE_CHOICE_H_
