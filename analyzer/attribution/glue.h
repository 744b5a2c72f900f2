// SPDX-License-Identifier: Apache-2.0
//
// Frames that say how a call was passed on and not what was asked for: PyTorch's dispatcher, bindings, the interpreter.
#ifndef ANALYZER_ATTRIBUTION_GLUE_H_
#define ANALYZER_ATTRIBUTION_GLUE_H_

#include <string>
#include <string_view>

#include "analyzer/model/report.h"

namespace vramtrack {

// Whether a native frame's function is not known: it is empty, or "libfoo.so+0x12ab".
bool IsNameless(const ReportFrame& frame);

// Whether a native frame is glue. docs/symbols.md tells the rules in words.
bool IsNativeGlue(const ReportFrame& frame);

// Whether a Python frame is.
bool IsPythonGlue(const ReportFrame& frame);

// Whether a Python frame calls a torch.nn.Module: what is within it is one module's forward.
bool IsModuleCall(const ReportFrame& frame);

// Whether a native frame is the interpreter's own; `IsEvaluation`: the one that runs Python frames.
bool IsInterpreter(const ReportFrame& frame);
bool IsEvaluation(const ReportFrame& frame);

// The class of the autograd graph's node whose backward a native frame is, "AddmmBackward0"; empty for other frames.
std::string GraphNodeName(const ReportFrame& frame);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_GLUE_H_
