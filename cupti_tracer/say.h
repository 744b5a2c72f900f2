// SPDX-License-Identifier: Apache-2.0
#ifndef CUPTI_TRACER_SAY_H_
#define CUPTI_TRACER_SAY_H_

#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// Makes Say write through the recorder. Without this call Say does nothing.
void SayBy(const VramtrackRecorder* recorder);
// Writes a line to stderr, cut off after 511 characters. A process can write only few lines.
__attribute__((format(printf, 1, 2))) void Say(const char* format, ...);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_SAY_H_
