// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_PYTHON_JOINED_STACKS_H_
#define INTERPOSE_PYTHON_JOINED_STACKS_H_

#include <cstdint>

#include "interpose/recorder/lane.h"
#include "interpose/stacks/stack_table.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// The number that an event refers to, from the numbers of what its stack is made of, 0 for what it has not: `native` as
// it is where there is nothing else, otherwise that of a JoinedStack, defined in `lane` first where it is new. Where it
// cannot be recorded, `native`. `forward`: PythonStack of the forward call that made the graph node which is evaluated.
// Thread-safe; allocates nothing.
uint32_t JoinStacks(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node, StackTable* stacks,
                    Lane* lane);

// Says what the forward call is that `number` stands for in joined stacks that were defined before it was known.
// `stack`: of the forward call, 0 for none. `node`: of those stacks.
void DefineForward(uint32_t number, uint32_t stack, schema::GraphNode node, Lane* lane);

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_JOINED_STACKS_H_
