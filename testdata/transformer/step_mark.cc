// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/step_mark.h"

#include "interpose/include/vramtrack/vramtrack.h"

namespace transformer {

void MarkStep(uint64_t step, int tokens) { VRAMTRACK_STEP(step, tokens); }

}  // namespace transformer
