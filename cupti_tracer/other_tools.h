// SPDX-License-Identifier: Apache-2.0
//
// Detects other CUPTI tools. Before 13.3 CUPTI serves one tool per process; the last one that registers gets the
// records.
#ifndef CUPTI_TRACER_OTHER_TOOLS_H_
#define CUPTI_TRACER_OTHER_TOOLS_H_

#include <stdint.h>

#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// Returns the name of a profiler or debugger that is loaded in the process, or null.
const char* OtherTool();

// Calls `leave(why)` each time before another library registers for CUPTI's records, gives it a clock (as
// torch.profiler does when it starts), or detaches CUPTI from the process (cuptiFinalize). The other library's call
// continues afterwards. If a library did this already, calls `leave` immediately.
void GiveWayToOthers(const VramtrackRecorder* recorder, void (*leave)(const char* why));

// Returns whether another library has enabled records of this kind. If so, this tracer must not disable them.
bool EnabledByOthers(uint32_t kind);

// Returns the path of a library that contains another CUPTI than the one with the address `known`, or null. It may be
// another libcupti, or a library with a statically linked CUPTI, whose calls are not hooked. A process can use only
// one.
const char* OtherCupti(const VramtrackRecorder* recorder, const void* known);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_OTHER_TOOLS_H_
