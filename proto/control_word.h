// SPDX-License-Identifier: Apache-2.0
//
// The word by which recording is switched on and off while a process runs: schema::COUNTER_CONTROL of its trace. The
// traced process and the commands share its layout.
#ifndef PROTO_CONTROL_WORD_H_
#define PROTO_CONTROL_WORD_H_

#include <cstdint>

namespace vramtrack {

// Those of schema::ControlBits that stop recording. Calls are recorded while none is set.
constexpr uint64_t kControlMask = 0xf;
// Above all flags: the number of calls that were not recorded.
constexpr int kControlCountShift = 8;

}  // namespace vramtrack

#endif  // PROTO_CONTROL_WORD_H_
