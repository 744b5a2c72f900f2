// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_HOOKS_MARK_NAMES_H_
#define INTERPOSE_HOOKS_MARK_NAMES_H_

#include <cstdint>

#include "interpose/hooks/call.h"

namespace vramtrack {

struct MarkName {
  uint32_t id = 0;      // of the trace's Name, 0 for none
  uint64_t number = 0;  // the last one in the text, 0 for none
};

// "epoch 3 step 17" is the name "epoch # step #" and the number 17, so that a job has few names. Defined first where it
// is new. Thread-safe, no lock; of a longer text the first 200 bytes count, and there are at most 65,536 names.
MarkName NameOf(const char* text, Call* call);

// A copy that stays for good; null where there is no more room (1 MiB for all). Thread-safe.
const char* KeptText(const char* text);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_MARK_NAMES_H_
