// SPDX-License-Identifier: Apache-2.0
//
// The processes of two runs, and the pairs that are compared.
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

// A process of a run, before it is analysed.
struct KnownProcess {
  std::string path;  // path of its trace, or of a summary that contains it
  std::optional<int> rank;
  std::vector<std::string> command;
  uint64_t start = 0;                       // in the same unit as for the other processes of the run
  std::optional<ProcessIdentity> identity;  // its key in KnownRun::summary; nullopt: it has a trace
};

struct KnownRun {
  std::vector<KnownProcess> processes;
  Summary summary;                      // all summaries joined
  std::vector<std::string> unreadable;  // one line each
};

// Finds the processes at `paths`. The error is one line; nothing could be read then.
absl::StatusOr<KnownRun> FindProcesses(const std::vector<std::string>& paths);

// Pairs processes by rank. Processes without a rank are paired by their command, in the order in which they started.
std::vector<std::pair<const KnownProcess*, const KnownProcess*>> PairUp(const KnownRun& base, const KnownRun& next,
                                                                        std::vector<std::string>* warnings);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_PROCESS_PAIRS_H_
