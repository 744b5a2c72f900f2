// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_SOURCE_LINES_H_
#define ANALYZER_RENDER_HTML_SOURCE_LINES_H_

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// A line of a source file and its neighbours, as the file is now.
struct SourceExcerpt {
  std::string file;                // the path, as in frames
  uint32_t line = 0;               // the line that the excerpt is about
  uint32_t first = 0;              // number of the first of `lines`
  std::vector<std::string> lines;  // UTF-8, without the line's end; long ones are cut
  bool changed = false;            // the file is newer than the oldest trace
};

template <class Visitor>
void Fields(Visitor& visit, SourceExcerpt& excerpt) {
  visit(0, "file", excerpt.file);
  visit(0, "line", excerpt.line);
  visit(0, "first", excerpt.first);
  visit(0, "lines", excerpt.lines);
  visit(0, "changed", excerpt.changed);
}

constexpr uint32_t kSourceLinesAround = 3;
constexpr size_t kMaxSourceFileBytes = 4 << 20;

// Returns excerpts for the job's own frames in the stacks of a report's first sites and of failed allocations, if the
// source is available, sorted by file and line. A trace can come from anyone and name any file: reads only regular
// files that have the names of source files, also where links lead, that belong to `reader` or the owner of
// one of the `traces`, or to root if everyone may read them, and that are UTF-8 text of at most kMaxSourceFileBytes.
std::vector<SourceExcerpt> ReadSource(const Report& report, const std::vector<std::string>& traces,
                                      uid_t reader = geteuid());

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_SOURCE_LINES_H_
