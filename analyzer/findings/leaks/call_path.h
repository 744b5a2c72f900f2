// SPDX-License-Identifier: Apache-2.0
//
// What the stacks of two sites have in common: the calls that led to both.
#ifndef ANALYZER_FINDINGS_LEAKS_CALL_PATH_H_
#define ANALYZER_FINDINGS_LEAKS_CALL_PATH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Stacks are innermost first, as everywhere; their outer ends are compared.

// How many frames, from the outermost on, are the same places in the source.
size_t CommonCalls(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b);

// Whether, within `calls` common calls, both go on in the same function, at different places of it.
bool PartInOneFunction(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b, size_t calls);

// The function that the last of `calls` calls leads to; null where it leads to nothing.
const ReportFrame* CalledBy(const std::vector<ReportFrame>& frames, size_t calls);

// Whether the last of `calls` calls is a line of the job's own, and all that is within it is a library's.
bool CallsLibrary(const std::vector<ReportFrame>& frames, size_t calls);

// Whether a frame is a constructor's.
bool IsConstructor(const ReportFrame& frame);

// Of raw stacks: whether the calls that Python made in both of them include a call of the same torch.nn.Module.
bool ShareModuleCall(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b);

// A text that is the same for the same last `calls` calls and function called.
std::string CallKey(const std::vector<ReportFrame>& frames, size_t calls);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_CALL_PATH_H_
