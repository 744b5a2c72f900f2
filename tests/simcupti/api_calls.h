// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_API_CALLS_H_
#define TESTS_SIMCUPTI_API_CALLS_H_

#include <cupti.h>

#include <cstdint>

#include "tests/simcupti/state.h"

namespace vramtrack::simcupti {

// A call of the public API that the program makes; calls inside of it are part of it, as the real one has it.
struct ApiCall {
  CUpti_ActivityKind kind;  // of runtime or driver
  uint32_t number;          // cbid
};

// For the sink: whatever function of the driver or the runtime begins, `frame` being its caller's.
void FunctionEntered(const void* function, const void* frame);
void FunctionLeft(const void* function);

// The number that ties a record to the call that this thread is in, or a new one. With the lock held.
uint32_t Correlation(State* state);

// Which calls are asked for: a whole kind, or one of it.
void WantCalls(CUpti_ActivityKind kind, bool on);
bool WantCall(CUpti_ActivityKind kind, uint32_t number, bool on);

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_API_CALLS_H_
