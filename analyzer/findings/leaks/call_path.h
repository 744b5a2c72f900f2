// SPDX-License-Identifier: Apache-2.0
//
// Compares the stacks of two sites: which calls led to both.
#ifndef ANALYZER_FINDINGS_LEAKS_CALL_PATH_H_
#define ANALYZER_FINDINGS_LEAKS_CALL_PATH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

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

#endif  // ANALYZER_FINDINGS_LEAKS_CALL_PATH_H_
