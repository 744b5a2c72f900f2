// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_PYTHON_JOINED_STACKS_H_
#define INTERPOSE_PYTHON_JOINED_STACKS_H_

#include <cstdint>

#include "interpose/recorder/lane.h"
#include "interpose/stacks/stack_table.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Returns the stack number for an event, from the numbers of the stack's parts; 0 means that a part is missing. Returns
// `native` if there are no other parts, and the number of a JoinedStack otherwise. Defines a new JoinedStack in `lane`
// first; returns `native` if that fails. `forward` is the PythonStack of the forward call that made the graph node
// being evaluated. Thread-safe; does not allocate from the heap.
uint32_t JoinStacks(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node, StackTable* stacks,
                    Lane* lane);

// Defines `number`, which joined stacks refer to as their forward call although it was not known yet. `stack` is the
// PythonStack of the forward call, or 0 if there is none. `node` is the kind of node of those stacks.
void DefineForward(uint32_t number, uint32_t stack, schema::GraphNode node, Lane* lane);

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_JOINED_STACKS_H_
