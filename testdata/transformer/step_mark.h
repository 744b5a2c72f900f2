// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_STEP_MARK_H_
#define TESTDATA_TRANSFORMER_STEP_MARK_H_

#include <cstdint>

namespace transformer {

// Reports to the tracer, if one is preloaded, that a step over `tokens` tokens has ended.
void MarkStep(uint64_t step, int tokens);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_STEP_MARK_H_
