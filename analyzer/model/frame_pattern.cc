// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/frame_pattern.h"

#include <fnmatch.h>

#include <string_view>

#include "analyzer/model/frame_text.h"

namespace vramtrack {
namespace {

bool MatchesName(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

// Whether `text` ends with what follows the last character of a pattern that may stand for others. Most paths do not,
// and then no folder has to be tried.
bool EndsAs(std::string_view pattern, std::string_view text) {
  const size_t special = pattern.find_last_of("*?[]");
  const std::string_view end = special == std::string_view::npos ? pattern : pattern.substr(special + 1);
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool MatchesPath(const std::string& pattern, const std::string& path) {
  if (path.empty() || !EndsAs(pattern, path)) return false;
  if (MatchesName(pattern, path)) return true;
  for (size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    if (fnmatch(pattern.c_str(), path.c_str() + at + 1, FNM_NOESCAPE) == 0) return true;
  }
  return false;
}

}  // namespace

bool FramePattern::Matches(const ReportFrame& frame) const {
  if (!file.empty() && !MatchesPath(file, frame.file)) return false;
  if (!library.empty() && !MatchesPath(library, frame.module)) return false;
  return function.empty() || MatchesName(function, frame.function) || MatchesName(function, FrameFunction(frame));
}

}  // namespace vramtrack
