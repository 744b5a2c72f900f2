// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/source_path.h"

#include <vector>

#include "analyzer/base/affix.h"

namespace vramtrack {
namespace {

// What Bazel tells compilers that their working folder is, so that the real one stays out of the output.
constexpr std::string_view kBazelWorkingDir = "/proc/self/cwd";

// Compilers that ignore $PWD (nvcc) record the real folder, ".../_bazel_USER/HASH/[sandbox/.../]execroot/WORKSPACE/",
// which is another one in each build.
std::string_view WithoutExecroot(std::string_view path) {
  constexpr std::string_view kExecroot = "/execroot/";
  size_t cache = path.find("/_bazel_");
  if (cache == std::string_view::npos) return path;
  size_t root = path.find(kExecroot, cache);
  if (root == std::string_view::npos) return path;
  size_t workspace_end = path.find('/', root + kExecroot.size());
  return workspace_end == std::string_view::npos ? path : path.substr(workspace_end + 1);
}

bool IsNvccTemporary(std::string_view path) {
  return StartsWith(path.substr(path.rfind('/') + 1), "tmpxft_");  // npos + 1 is 0
}

}  // namespace

std::string FoldedPath(std::string_view path) {
  const bool absolute = StartsWith(path, "/");
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (!absolute) {
      parts.push_back(part);
    }
  }
  std::string folded;
  for (std::string_view part : parts) {
    if (absolute || !folded.empty()) folded.push_back('/');
    folded.append(part);
  }
  if (folded.empty()) folded = absolute ? "/" : ".";
  return folded;
}

std::string SourcePath(std::string_view name, std::string_view compilation_dir) {
  if (name.empty() || IsNvccTemporary(name)) return "";
  // GCC's "<built-in>" and "<artificial>".
  if (name.front() == '<') return std::string(name);
  std::string path(name);
  if (name.front() != '/' && StartsWith(compilation_dir, "/")) {
    path.assign(compilation_dir).append("/").append(name);
  }
  path = FoldedPath(path);
  std::string_view shown = path;
  if (StartsWith(shown, kBazelWorkingDir) && shown.substr(kBazelWorkingDir.size(), 1) == "/") {
    shown.remove_prefix(kBazelWorkingDir.size() + 1);
  }
  return std::string(WithoutExecroot(shown));
}

bool IsCudaSource(std::string_view path) { return EndsWith(path, ".cu") || EndsWith(path, ".cuh"); }

}  // namespace vramtrack
