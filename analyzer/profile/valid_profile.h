// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PROFILE_VALID_PROFILE_H_
#define ANALYZER_PROFILE_VALID_PROFILE_H_

#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// Throws std::runtime_error where numbers are those of no run: what compares profiles relies on it, and a summary may
// come from anywhere.
void CheckProfile(const StepProfile& profile);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_VALID_PROFILE_H_
