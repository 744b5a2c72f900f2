// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CHECK_SOURCE_PATHS_H_
#define ANALYZER_CHECK_SOURCE_PATHS_H_

#include <map>
#include <string>

namespace vramtrack {

// Converts paths of source files to the form that annotations need: relative to the root of the repository. Debug
// information has paths from the time of compilation, perhaps from another machine. Thread-compatible.
class SourcePaths {
 public:
  // `root` is a folder. If it is empty, the root is the nearest folder with a .git, from the working directory upwards,
  // or else the working directory.
  explicit SourcePaths(std::string root);

  const std::string& root() const { return root_; }

  // Returns the path relative to the root if the file is below it, or if the last folders of its path exist there
  // ("/build/job/src/a.cu" becomes "src/a.cu"). Otherwise returns it unchanged.
  std::string FromRoot(const std::string& file);

 private:
  std::string Find(const std::string& file) const;

  std::string root_;
  std::map<std::string, std::string> known_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_SOURCE_PATHS_H_
