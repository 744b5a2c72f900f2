// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/trace_paths.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

bool IsSummaryName(std::string name) { return absl::EndsWith(name, ".vts"); }

}  // namespace

bool IsTraceName(std::string name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits > 0 && digits < name.size() && name[digits - 1] == '.') name.resize(digits - 1);
  return absl::EndsWith(name, ".vtrace");
}

absl::StatusOr<std::vector<std::string>> ListTraces(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    const std::string line = absl::StrCat(path, ": ", std::strerror(errno));
    if (errno == ENOENT) return absl::NotFoundError(line);
    return absl::FailedPreconditionError(line);
  }
  if (!S_ISDIR(info.st_mode)) return std::vector<std::string>{path};
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) names.push_back(entry->d_name);
  closedir(folder);
  std::sort(names.begin(), names.end());
  std::vector<std::string> paths;
  // Summaries stand for traces where there are none.
  for (bool (*const is_wanted)(std::string) : {IsTraceName, IsSummaryName}) {
    for (const std::string& name : names) {
      if (is_wanted(name)) paths.push_back(absl::StrCat(path, absl::EndsWith(path, "/") ? "" : "/", name));
    }
    if (!paths.empty()) return paths;
  }
  return absl::NotFoundError(absl::StrCat(path, ": no *.vtrace in this folder; `vramtrack run` writes them"));
}

}  // namespace vramtrack
