// SPDX-License-Identifier: Apache-2.0
//
// Finds the traces of a folder that belong together. A folder may contain several runs, whose figures must not be
// mixed.
#ifndef ANALYZER_INGEST_TRACE_CHOICE_H_
#define ANALYZER_INGEST_TRACE_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace vramtrack {

struct TraceChoice {
  std::vector<std::string> paths;  // sorted
  std::string left_out;            // one line about other runs and earlier recordings; empty if there are none
};

// Returns whether anything was recorded in a trace. False for that of a dormant process whose recording was never
// started; true for whatever is not a trace.
bool HasBegun(const std::string& path);

// Returns the traces or summaries of `path`; see ListTraces. If a folder has several runs, returns those of the run
// whose first process began to record last, or all with `all_runs`. Traces without a run id count as one run. Of a
// process that was stopped and started again, returns the last recording: it is not a second process. A file that
// cannot be read stays in the paths, so that its reader reports the error. An error is one line that names the path.
absl::StatusOr<TraceChoice> ChooseTraces(const std::string& path, bool all_runs);

// The traces of one run.
struct TraceRun {
  std::string run_id;                // empty: traces without one
  uint64_t start_ns = 0;             // when its first process began to record, since 1970; 0: unknown
  std::vector<std::string> paths;    // sorted
  std::vector<std::string> earlier;  // earlier recordings of these processes, which were stopped and started again
};

struct TraceRuns {
  std::vector<TraceRun> runs;           // newest first
  std::vector<std::string> unreadable;  // traces that do not say to which run they belong
};

// Returns the runs of these traces; see ListTraces. Those of processes that stayed dormant are left out.
TraceRuns SortIntoRuns(const std::vector<std::string>& traces);

// Removes the earlier recordings of processes that were stopped and started again. Returns one line about them; empty
// if there are none.
std::string LeaveOutEarlierRecordings(std::vector<std::string>* paths);

// Returns the run id of a trace; empty if it has none, nullopt if the file cannot be read.
std::optional<std::string> RunIdOf(const std::string& path);

// Returns whether a file name is that of a trace: *.vtrace, or *.vtrace.N, which older versions wrote.
bool IsTraceName(std::string name);

// Returns the trace files of `path`, sorted: the file itself, or for a folder all *.vtrace in it, or all *.vts
// (summaries) if there are no traces. An error is one line that names the path.
absl::StatusOr<std::vector<std::string>> ListTraces(const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACE_CHOICE_H_
