// SPDX-License-Identifier: Apache-2.0
//
// The memory that a device needs for given step values, and the memory to leave free.
#ifndef ANALYZER_RENDER_TEXT_NEEDS_TEXT_H_
#define ANALYZER_RENDER_TEXT_NEEDS_TEXT_H_

#include <string>

#include "analyzer/model/device.h"

namespace vramtrack {

std::string ValueFitText(const ReportValueFit& fit);
std::string SuggestedLimitText(const ReportDevice& device);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_NEEDS_TEXT_H_
