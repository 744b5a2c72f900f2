// SPDX-License-Identifier: Apache-2.0
//
// The thread that fetches CUPTI's records while the program runs, and every way in which it ends: the program's,
// another tool's, an error. There is one of it in a process, for good.
#ifndef CUPTI_TRACER_COLLECTOR_H_
#define CUPTI_TRACER_COLLECTOR_H_

#include <semaphore.h>
#include <stdint.h>

#include "cupti_tracer/cupti_library.h"
#include "proto/recorder_interface.h"

namespace vramtrack::cupti {

// What it works with; not owned, there for good.
struct Collected {
  const VramtrackRecorder* recorder;
  const Library* library;
  uint32_t record_kinds;  // bits by index in kRecordKinds
  bool others_are_ours;   // a newer libcupti was loaded by this one and did not start
};

// Buffers for it; false: there is no memory. To be called once, before the rest.
bool PrepareCollector();

// From now on CUPTI asks it for buffers. As cuptiActivityRegisterCallbacks.
int GiveBuffersTo(const Library& library);

// Before another tool's call: no more records are asked for, and what CUPTI has of them is in the trace when this
// returns, for which it waits at most two seconds. What has not started does not. In any thread, and in forked
// children, where there is nothing to do. `why` goes to the report.
void LeaveToOther(const char* why);

// Records have been asked for, and the caller takes that back unless it has started. kTooLate: LeaveToOther came first.
// At the end of the process it fetches what there is.
enum class Start { kStarted, kTooLate, kNoThread, kNoClock };
Start StartCollector(const Collected& collected);

// Why it has left, null while it has not.
const char* WhyCollectorLeft();

// A semaphore: one thread waits until another one posts. Never destroyed. Thread-safe.
class Wakeup {
 public:
  bool Init() { return sem_init(&posted_, 0, 0) == 0; }
  // Async-signal-safe. Each post ends one wait.
  void Post() { sem_post(&posted_); }
  // False if there was no post within `ms`.
  bool Wait(int ms);
  // Forgets earlier posts.
  void Clear();

 private:
  sem_t posted_;
};

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_COLLECTOR_H_
