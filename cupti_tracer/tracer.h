// SPDX-License-Identifier: Apache-2.0
//
// Takes CUPTI's activity records from the driver to the trace, on a thread of its own. It never subscribes to
// callbacks, of which CUPTI serves one tool only, and gives way to another that wants the records.
#ifndef CUPTI_TRACER_TRACER_H_
#define CUPTI_TRACER_TRACER_H_

#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// Once in a process, from the driver's cuInit. What cannot be done is said in one line; hooked events go on.
void StartTracer(const VramtrackRecorder* recorder);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_TRACER_H_
