// SPDX-License-Identifier: Apache-2.0
//
// What a device needs to have: by the values of steps, and to leave free.
#ifndef ANALYZER_RENDER_TEXT_NEEDS_TEXT_H_
#define ANALYZER_RENDER_TEXT_NEEDS_TEXT_H_

#include <string>

#include "analyzer/model/device.h"
#include "analyzer/model/oom.h"

namespace vramtrack {

std::string ValueFitText(const ReportValueFit& fit);
std::string SuggestedLimitText(const ReportDevice& device);
// What calls of empty_cache() cost in time; empty if nothing is known.
std::string ReleaseTimeText(const ReportRelease& release);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_NEEDS_TEXT_H_
