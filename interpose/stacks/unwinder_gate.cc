// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/unwinder_gate.h"

#include "interpose/recorder/fork_gate.h"

// See third_party/libunwind/libunwind.BUILD.
extern "C" {
extern void (*unwinder_before_lock)();
extern void (*unwinder_after_unlock)();
}

namespace vramtrack {

void GateUnwinder() {
  unwinder_before_lock = ForkGate::Enter;
  unwinder_after_unlock = ForkGate::Leave;
}

}  // namespace vramtrack
