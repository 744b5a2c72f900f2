// SPDX-License-Identifier: Apache-2.0
#ifndef CUPTI_TRACER_SAY_H_
#define CUPTI_TRACER_SAY_H_

#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// Lines on stderr from now on, of which a process has few; without it there are none.
void SayBy(const VramtrackRecorder* recorder);
__attribute__((format(printf, 1, 2))) void Say(const char* format, ...);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_SAY_H_
