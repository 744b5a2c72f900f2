// SPDX-License-Identifier: Apache-2.0
//
// Writes CUPTI's activity records to the trace, on a thread of its own. The tracer does not subscribe to callbacks,
// because CUPTI allows one subscriber, and it stops when another tool asks for the records.
#ifndef CUPTI_TRACER_TRACER_H_
#define CUPTI_TRACER_TRACER_H_

#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// Starts the tracer; called during the driver's cuInit. Later calls do nothing. If CUPTI cannot be used, writes one
// line to stderr; the hooks keep recording. `recorder` is not owned and must never be destroyed.
void StartTracer(const VramtrackRecorder* recorder);

// Writes a line to stderr, cut off after 511 characters. A process can write only few lines.
__attribute__((format(printf, 1, 2))) void Say(const char* format, ...);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_TRACER_H_
