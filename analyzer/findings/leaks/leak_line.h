// SPDX-License-Identifier: Apache-2.0
//
// The line that the user owns: which site of a leak leads it, and which line of that site's stack the headline names.
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_LINE_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_LINE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// A site of a leak.
struct LeakMember {
  const std::vector<ReportFrame>* frames = nullptr;  // innermost first
  double rate = 0;                                   // bytes per step, or objects of what has no bytes
  bool same_call = true;  // it is tied to the others by a call, and not only by when it is released
};

struct LeakLine {
  size_t leader = 0;           // index of the members
  std::optional<size_t> line;  // index of its frames; none: what it would be by itself
};

// `leader`: the member that leads for other reasons, such as that it was born last. `clean`: stacks of sites that do
// not leak and are allocated throughout the run.
//
// Parts count by their bytes: the innermost line of the user's own code that the bulk of the leak goes through is the
// line, and not a call that only the last hundredth has in common with it. Where that line's function returns what
// leaks, and other lines call it for what is freed, it is the line that calls it.
LeakLine FindLeakLine(const std::vector<LeakMember>& members, size_t leader,
                      const std::vector<std::vector<ReportFrame>>& clean);

// Of a call at `line`, an index of `frames`: the next line of the user's own within it if the function that is called
// keeps what leaks, and `line` otherwise. It does if it frees something that it allocates further down.
size_t LineThatKeeps(const std::vector<ReportFrame>& frames, size_t line,
                     const std::vector<std::vector<ReportFrame>>& clean);

// Of a leak with one stack: the line that keeps what the innermost function of the user's own returns. That function
// has no leak of its own if another line of the user's own calls it for something that is freed, and it frees nothing
// that it allocates further down. None: the innermost line itself.
std::optional<size_t> KeepingCaller(const std::vector<ReportFrame>& frames,
                                    const std::vector<std::vector<ReportFrame>>& clean);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_LINE_H_
