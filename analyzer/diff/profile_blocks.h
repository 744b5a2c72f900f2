// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_PROFILE_BLOCKS_H_
#define ANALYZER_DIFF_PROFILE_BLOCKS_H_

#include <cstddef>
#include <vector>

#include "analyzer/profile/process_profile.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// Puts windows of steps together to blocks. `members`: of each match, indices of the profile's sites. `window` begins,
// ends and parts its blocks where windows of the profile do.
ProcessProfile BlocksOf(const StepProfile& profile, const std::vector<std::vector<size_t>>& members,
                        const StepWindow& window);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_PROFILE_BLOCKS_H_
