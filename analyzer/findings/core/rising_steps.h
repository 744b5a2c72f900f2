// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_RISING_STEPS_H_
#define ANALYZER_FINDINGS_CORE_RISING_STEPS_H_

#include <string>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// Finds a job that needs more memory in each step although it keeps nothing: a buffer is freed and made again, larger
// each time, or inputs get longer. No site leaks then, and the device is full one day nonetheless. Returns a sentence
// that says by how much and which line's objects grow most; empty if the steps do not need more and more, if they
// stopped doing so before the end, or if what stays grows as fast.
std::string RisingSteps(ProcessAnalysis* analysis, DeviceIndex device);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_RISING_STEPS_H_
