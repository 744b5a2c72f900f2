// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_STACKS_UNWINDER_GATE_H_
#define INTERPOSE_STACKS_UNWINDER_GATE_H_

namespace vramtrack {

// Has libunwind take its locks inside the fork gate. Once, before the first stack is taken.
void GateUnwinder();

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_UNWINDER_GATE_H_
