// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_TRACE_FOLDER_H_
#define ANALYZER_CLI_TRACE_FOLDER_H_

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace vramtrack {

// The folder to which a run writes its traces. Thread-compatible.
class TraceFolder {
 public:
  // Creates the folder `path`, or a new one named after the time if `path` is empty. The folder may already exist. The
  // error is one line that names the folder: its parent is missing, it is not writable, or the disk is full.
  // `root`: another root folder, such as /proc/PID/root, in which `path` is absolute; no link leads out of it. Files
  // and folders are reached by descriptors, so that nobody can put something else in their place meanwhile.
  absl::Status Open(const std::string& path, const std::string& root = "");
  TraceFolder() = default;
  ~TraceFolder();
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  // Makes another user the owner. Returns whether that is allowed.
  bool GiveTo(uid_t user, gid_t group) const;

  // Returns the path as the user gave it, behind `root`.
  const std::string& path() const { return path_; }
  // Returns the pattern for VRAMTRACK_OUTPUT.
  std::string OutputPattern() const;
  // Returns the traces that did not exist at Open() and in which something was recorded, sorted.
  std::vector<std::string> NewTraces() const;
  // Returns all traces of the folder in which something was recorded, sorted.
  std::vector<std::string> AllTraces() const;
  // Returns whether Open() created the folder.
  bool made() const { return made_; }
  // Removes the folder if Open() created it and it is empty.
  void RemoveIfEmpty() const;

 private:
  absl::Status TryToWrite() const;
  // Opens a folder with O_PATH. Returns -1 and sets errno if that fails.
  int OpenPath(const std::string& path) const;
  bool Make(const std::string& path);

  std::string path_, absolute_path_;
  int root_ = -1, parent_ = -1, folder_ = -1;  // descriptors
  std::string name_;                           // in the parent
  bool made_ = false;
  std::set<std::string> before_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_TRACE_FOLDER_H_
