// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_CATEGORY_H_
#define ANALYZER_ATTRIBUTION_CATEGORY_H_

#include <string>
#include <vector>

#include "analyzer/report.h"

namespace vramtrack {

// What PyTorch's memory is for, as far as the stack that asked for it tells: "parameter", "gradient" (all that the
// backward pass makes), "optimizer_state", "workspace" (of the CUDA libraries), or empty.
std::string CategoryOf(const std::vector<ReportFrame>& frames);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_CATEGORY_H_
