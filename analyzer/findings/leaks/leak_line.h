// SPDX-License-Identifier: Apache-2.0
//
// Chooses the line of the user's code to name: which site of a leak leads it, and which line of that site's stack the
// headline shows.
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
  double rate = 0;                                   // bytes per step, or objects per step if there are no bytes
  bool same_call = true;  // it is related to the others by a call, and not only by the time of its release
};

struct LeakLine {
  size_t leader = 0;           // index of the members
  std::optional<size_t> line;  // index of the leader's frames; none: the line that the leader would have alone
};

// Returns the line of a leak. `leader`: the member that leads for other reasons, such as being allocated last.
// `clean`: stacks of sites that do not leak and allocate throughout the run.
//
// Members count by their bytes: the line is the innermost line of the user's own code that most bytes of the leak pass
// through, rather than a call that includes the last hundredth as well. If that line's function returns the leaked
// memory, and other lines call it for memory that is freed, the calling line is chosen.
LeakLine FindLeakLine(const std::vector<LeakMember>& members, size_t leader,
                      const std::vector<std::vector<ReportFrame>>& clean);

// Returns, for a call at `line` (an index of `frames`), the next inner line of the user's own code if the called
// function keeps what leaks, and `line` otherwise. A function counts as keeping it if it frees something that it
// allocates further down.
size_t LineThatKeeps(const std::vector<ReportFrame>& frames, size_t line,
                     const std::vector<std::vector<ReportFrame>>& clean);

// Returns, for a leak with one stack, the line that keeps what the user's innermost function returns. That function
// does not leak itself if another line of the user's code calls it for memory that is freed, and if it frees nothing
// that it allocates further down. None: the innermost line is right.
std::optional<size_t> KeepingCaller(const std::vector<ReportFrame>& frames,
                                    const std::vector<std::vector<ReportFrame>>& clean);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_LINE_H_
