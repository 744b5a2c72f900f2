// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/source_paths.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace vramtrack {
namespace {

std::string FindRoot() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  for (std::filesystem::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / ".git", error)) return folder.string();
    if (folder == folder.parent_path()) break;
  }
  return here.string();
}

}  // namespace

SourcePaths::SourcePaths(std::string root) : root_(std::move(root)) {
  if (root_.empty()) root_ = FindRoot();
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(root_, error);
  if (!error) root_ = absolute.lexically_normal().string();
  while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
}

std::string SourcePaths::FromRoot(const std::string& file) {
  const auto [known, is_new] = known_.try_emplace(file);
  if (is_new) known->second = Find(file);
  return known->second;
}

std::string SourcePaths::Find(const std::string& file) const {
  const std::string path = std::filesystem::path(file).lexically_normal().string();
  if (path.empty() || path[0] != '/') return path;
  const std::string below = root_ == "/" ? root_ : root_ + "/";
  if (path.compare(0, below.size(), below) == 0) return path.substr(below.size());
  std::error_code error;
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string end = path.substr(at + 1);
    // One name alone would be found anywhere.
    if (end.find('/') == std::string::npos) break;
    if (std::filesystem::is_regular_file(below + end, error)) return end;
  }
  return path;
}

}  // namespace vramtrack
