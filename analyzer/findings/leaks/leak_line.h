// SPDX-License-Identifier: Apache-2.0
//
// Chooses the line of the user's code to name: which site of a leak leads it, and which line of that site's stack the
// headline shows.
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_LINE_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_LINE_H_

#include <cstddef>
#include <optional>
#include <string>
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

// Compares the stacks of two sites: which calls led to both.

// Stacks are innermost first, as everywhere; their outer ends are compared.

// Returns the number of frames, from the outermost on, that are the same places in the source.
size_t CommonCalls(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b);

// Returns whether both stacks, within `calls` common calls, continue in the same function at different places.
bool PartInOneFunction(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b, size_t calls);

// Returns the frame of the function that the last of `calls` calls leads to; null if there is none.
const ReportFrame* CalledBy(const std::vector<ReportFrame>& frames, size_t calls);

// Returns whether the last of `calls` calls is a line of the job's own code and all frames within it are a library's.
bool CallsLibrary(const std::vector<ReportFrame>& frames, size_t calls);

// Returns whether a frame is a constructor's.
bool IsConstructor(const ReportFrame& frame);

// Returns whether the Python calls of two raw stacks include the same call of a torch.nn.Module.
bool ShareModuleCall(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b);

// Returns a text that is equal for stacks with the same outermost `calls` calls and the same called function.
std::string CallKey(const std::vector<ReportFrame>& frames, size_t calls);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_LINE_H_
