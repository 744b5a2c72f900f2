// SPDX-License-Identifier: Apache-2.0
//
// The processes of two runs, and which of them are compared with each other.
#ifndef ANALYZER_DIFF_PROCESS_PAIRS_H_
#define ANALYZER_DIFF_PROCESS_PAIRS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {

// A process of a run, before it is looked into.
struct KnownProcess {
  std::string path;  // of its trace, or of a summary that it is in
  std::optional<int> rank;
  std::vector<std::string> command;
  uint64_t start = 0;                       // in whatever unit the others of the run have
  std::optional<ProcessIdentity> identity;  // in KnownRun::summary; none: it has a trace
};

struct KnownRun {
  std::vector<KnownProcess> processes;
  Summary summary;                      // of all summaries together
  std::vector<std::string> unreadable;  // one line each
};

// The error is one line: nothing can be read.
absl::StatusOr<KnownRun> FindProcesses(const std::vector<std::string>& paths);

// By rank; those without one by what they run, in the order in which they began.
std::vector<std::pair<const KnownProcess*, const KnownProcess*>> PairUp(const KnownRun& base, const KnownRun& next,
                                                                        std::vector<std::string>* warnings);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_PROCESS_PAIRS_H_
