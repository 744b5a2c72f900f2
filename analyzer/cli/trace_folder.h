// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_TRACE_FOLDER_H_
#define ANALYZER_CLI_TRACE_FOLDER_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace vramtrack {

// The folder that a run writes its traces to. Thread-compatible.
class TraceFolder {
 public:
  // Makes the folder `path`, or a new one named after the time where `path` is empty. It may exist already. The error
  // is one line that names the folder: its parent is missing, it cannot be written to, the disk is full.
  absl::Status Open(const std::string& path);

  // As the user named it.
  const std::string& path() const { return path_; }
  // The pattern for VRAMTRACK_OUTPUT.
  std::string OutputPattern() const;
  // Those that were not there at Open, sorted.
  std::vector<std::string> NewTraces() const;
  // All of them, sorted.
  std::vector<std::string> AllTraces() const;
  // Removes the folder if Open made it and nothing is in it.
  void RemoveIfEmpty() const;

 private:
  absl::Status TryToWrite() const;

  std::string path_, absolute_path_;
  bool made_ = false;
  std::set<std::string> before_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_TRACE_FOLDER_H_
