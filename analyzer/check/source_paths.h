// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CHECK_SOURCE_PATHS_H_
#define ANALYZER_CHECK_SOURCE_PATHS_H_

#include <map>
#include <string>

namespace vramtrack {

// Paths of sources as the place that shows annotations wants them: from the root of the repository. Debug information
// has them as they were when the program was compiled, maybe elsewhere. Thread-compatible.
class SourcePaths {
 public:
  // `root`: a folder; empty: the one that has a .git, from the working directory upwards, or else that directory.
  explicit SourcePaths(std::string root);

  const std::string& root() const { return root_; }

  // From the root, if the file is below it, or if it is there by the last folders of its path ("/build/job/src/a.cu" as
  // "src/a.cu"); otherwise as it is.
  std::string FromRoot(const std::string& file);

 private:
  std::string Find(const std::string& file) const;

  std::string root_;
  std::map<std::string, std::string> known_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_SOURCE_PATHS_H_
