// SPDX-License-Identifier: Apache-2.0
//
// Which traces of a folder belong together: a folder may hold several runs, whose figures must not be mixed.
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

// The traces or summaries of `path`; see ListTraces. From a folder with several runs, the run whose first process began
// to record last, or all with `all_runs`. Traces without a run id count as one run. A file that cannot be read stays
// among the paths, so that its reader reports the error. The error is one line that names the path.
absl::StatusOr<TraceChoice> ChooseTraces(const std::string& path, bool all_runs);

// The run id of a trace: empty if it has none, nullopt if the file cannot be read.
std::optional<std::string> RunIdOf(const std::string& path);

// Whether a file of this name is a trace: *.vtrace, or *.vtrace.N, the second of two in older versions.
bool IsTraceName(std::string name);

// The trace files of `path`, sorted: the file itself, or for a folder all *.vtrace in it, or all *.vts (summaries) if
// there are no traces. The error is one line that names the path.
absl::StatusOr<std::vector<std::string>> ListTraces(const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACE_CHOICE_H_
