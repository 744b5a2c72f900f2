// SPDX-License-Identifier: Apache-2.0
//
// The collector: the thread that fetches CUPTI's records while the program runs. It ends with the program, when another
// tool takes over, or after an error. A process has one collector, which never restarts.
#ifndef CUPTI_TRACER_COLLECTOR_H_
#define CUPTI_TRACER_COLLECTOR_H_

#include <stdint.h>

#include "cupti_tracer/cupti_library.h"
#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// What the collector works with. The pointers are not owned, and their objects must never be destroyed.
struct Collected {
  const VramtrackRecorder* recorder;
  const Library* library;
  uint32_t record_kinds;  // a bit for each index in kRecordKinds
  bool others_are_ours;   // this tracer loaded a newer libcupti, which did not start
};

// Allocates the collector's first buffers. Call it once, before the other functions. Returns false if it cannot create
// the semaphores.
bool PrepareCollector();

// Registers the collector's buffers with CUPTI. Returns the result of cuptiActivityRegisterCallbacks.
int GiveBuffersTo(const Library& library);

// Stops the collector before another tool's call. Disables the records, and waits up to two seconds until those that
// CUPTI has are in the trace. A collector that has not started never starts. May be called in any thread; does nothing
// in a forked child. `why` is shown in the report and must be a string that is never freed.
void LeaveToOther(const char* why);

// Starts the collector; the records must be enabled already. If the result is not kStarted the caller must disable
// them. kTooLate means that LeaveToOther was called before, kNoThread that memory or the thread could not be created.
// When the process ends the collector fetches the remaining records.
enum class Start { kStarted, kTooLate, kNoThread, kNoClock };
Start StartCollector(const Collected& collected);

// Returns why the collector stopped, or null if it has not. The text is empty if the process is ending.
const char* WhyCollectorLeft();

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_COLLECTOR_H_
