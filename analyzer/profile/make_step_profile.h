// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_
#define ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// With one more replay. The same trace and options give the same profile. Memory: a few words for each site that is
// kept and each window, and some for each step and device.
StepProfile MakeStepProfile(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_
