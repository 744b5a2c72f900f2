// SPDX-License-Identifier: Apache-2.0
//
// Detects framework-internal frames. They show how a call was passed on, not what was requested: PyTorch's dispatcher,
// bindings, the interpreter.
#ifndef ANALYZER_ATTRIBUTION_GLUE_H_
#define ANALYZER_ATTRIBUTION_GLUE_H_

#include <string>
#include <string_view>

#include "analyzer/model/report.h"

namespace vramtrack {

// Returns whether the function of a native frame is unknown: empty, or "libfoo.so+0x12ab".
bool IsNameless(const ReportFrame& frame);

// Returns whether a native frame is framework-internal. docs/symbols.md describes the rules.
bool IsNativeGlue(const ReportFrame& frame);

// Returns whether a Python frame is framework-internal.
bool IsPythonGlue(const ReportFrame& frame);

// Returns whether a Python frame calls a torch.nn.Module. The frames that it calls are the module's forward.
bool IsModuleCall(const ReportFrame& frame);

// IsInterpreter returns whether a native frame belongs to the Python interpreter; IsEvaluation, whether it is the
// function that runs Python frames.
bool IsInterpreter(const ReportFrame& frame);
bool IsEvaluation(const ReportFrame& frame);

// If a native frame is the backward function of an autograd graph node, returns the node's class, "AddmmBackward0".
// Returns an empty string for other frames.
std::string GraphNodeName(const ReportFrame& frame);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_GLUE_H_
