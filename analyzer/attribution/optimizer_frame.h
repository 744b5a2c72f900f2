// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_OPTIMIZER_FRAME_H_
#define ANALYZER_ATTRIBUTION_OPTIMIZER_FRAME_H_

#include <string_view>

namespace vramtrack {

// Whether a Python function is an optimizer's step, or what PyTorch wraps around it. `function`: the last part of its
// name.
bool IsOptimizerFrame(std::string_view file, std::string_view function);

// Whether it belongs to the machinery of optimizers rather than to whoever calls step().
bool IsOptimizerFile(std::string_view file);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_OPTIMIZER_FRAME_H_
