// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_STACKS_CURSOR_WALK_H_
#define INTERPOSE_STACKS_CURSOR_WALK_H_

#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/registers.h"

namespace vramtrack {

// Fills `stack` by stepping libunwind's cursor, from the frame `start`, an outer one of this call, outwards: at most
// `bounds.max_frames` (<= kMaxFrames) that are not in `bounds.own`. Right for every stack that libunwind understands,
// among them those of signal handlers and of coroutines. A stack ends, truncated, at code without unwind information:
// libunwind would go on by guesses that are wrong more often than not. Costs a microsecond and more for each frame,
// because nothing is kept from one to the next. Allocates nothing; takes the loader's short lock for its list of
// objects.
void WalkByCursor(const Registers& start, const WalkBounds& bounds, NativeStack* stack);

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_CURSOR_WALK_H_
