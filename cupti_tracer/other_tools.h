// SPDX-License-Identifier: Apache-2.0
//
// Who else is there: CUPTI serves one tool before 13.3, and the last one to ask gets the records.
#ifndef CUPTI_TRACER_OTHER_TOOLS_H_
#define CUPTI_TRACER_OTHER_TOOLS_H_

#include <stdint.h>

#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// The name of a profiler or debugger that is in the process, or null.
const char* OtherTool();

// From now on `leave(why)` is called before another library registers for CUPTI's records or gives it a clock (as
// torch.profiler does when it starts), or detaches CUPTI from the process (cuptiFinalize); then its call goes on. At
// once where one has done so already.
void GiveWayToOthers(const VramtrackRecorder* recorder, void (*leave)(const char* why));

// Whether another library wants records of this kind, so that they are not ours to disable.
bool EnabledByOthers(uint32_t kind);

// The path of a library other than the one that `known` lies in which has a CUPTI linked into it, whose calls are not
// seen, or is another libcupti; null for none. CUPTI serves one of them in a process.
const char* OtherCupti(const VramtrackRecorder* recorder, const void* known);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_OTHER_TOOLS_H_
