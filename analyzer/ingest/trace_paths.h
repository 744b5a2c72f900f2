// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TRACE_PATHS_H_
#define ANALYZER_INGEST_TRACE_PATHS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace vramtrack {

// Whether a file of this name in a folder is a trace: *.vtrace, or *.vtrace.N, as older versions named the second of
// two.
bool IsTraceName(std::string name);

// The trace files that `path` means, sorted: itself if it is a file, all *.vtrace in it if it is a folder, or all
// *.vts, which are summaries, where there are no traces. The error is one line that names the path.
absl::StatusOr<std::vector<std::string>> ListTraces(const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACE_PATHS_H_
