// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_EXTERNAL_IDS_H_
#define TESTS_SIMCUPTI_EXTERNAL_IDS_H_

#include "tests/simcupti/state.h"

namespace vramtrack::simcupti {

// Records of the ids that this thread has pushed last, one of each kind, for the call whose record comes next. With the
// lock held.
void TellExternalIds(State* state, uint32_t correlation);

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_EXTERNAL_IDS_H_
