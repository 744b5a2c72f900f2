// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/tracer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cupti_tracer/collector.h"
#include "cupti_tracer/cupti_library.h"
#include "cupti_tracer/enable_records.h"
#include "cupti_tracer/other_tools.h"

namespace vramtrack::cupti {
namespace {

const VramtrackRecorder* recorder = nullptr;
Library library;
uint32_t record_kinds = 0;
bool others_are_ours = false;  // see Collected

bool Prepare() {
  if (!ParseRecordKinds(getenv("VRAMTRACK_CUPTI_RECORDS"), &record_kinds)) {
    Say("no CUPTI: VRAMTRACK_CUPTI_RECORDS: invalid list '%s' (expected memory, pools, kernels, copies or fills)",
        getenv("VRAMTRACK_CUPTI_RECORDS"));
    return false;
  }
  if (const char* tool = OtherTool()) {
    Say("no CUPTI: %s is active and CUPTI allows one client; API hooks keep recording", tool);
    return false;
  }
  if (const char* path = OtherCupti(recorder, LoadedLibrary(recorder->look_up))) {
    Say("no CUPTI: %s loaded its own CUPTI and a process can have one client; API hooks keep recording", path);
    return false;
  }
  if (PrepareCollector()) return true;
  Say("no CUPTI: out of memory for its records; API hooks keep recording");
  return false;
}

int Register(const Library& candidate) {
  const int result = GiveBuffersTo(candidate);
  others_are_ours = others_are_ours || IsTooNew(result);
  return result;
}

bool FindCupti() {
  int result;
  const char* defect;
  if (FindLibrary(recorder->look_up, Register, &library, &result, &defect)) return true;
  if (result != kSuccess) {
    Say("no CUPTI: %s (%s); API hooks keep recording", library.Text(result),
        IsTooNew(result)                 ? "it is newer than the driver"
        : result == kMultipleSubscribers ? "another tool may hold it"
                                         : "it failed to start");
  } else if (defect != nullptr) {
    Say("no CUPTI: %s; API hooks keep recording", defect);
  } else {
    Say("no CUPTI: libcupti.so.13, .12 and .11.8 are not installed, or newer than the driver; API hooks keep "
        "recording");
  }
  return false;
}

bool EnableKinds() {
  // Before memory records begin: a record says who asked, where CUPTI can tell.
  if (library.has_source()) library.cuptiActivityEnableAllocationSource(1);
  const Enabled enabled = EnableRecords(library, record_kinds);
  if (enabled.refused != nullptr) {
    const bool not_allowed =
        enabled.result == kInsufficientPrivileges || enabled.result == kVirtualizedInsufficientPrivileges;
    Say("no CUPTI: %s records were refused: %s%s; API hooks keep recording", enabled.refused,
        library.Text(enabled.result),
        not_allowed ? " (the driver's NVreg_RestrictProfilingToAdminUsers keeps them for administrators)" : "");
    return false;
  }
  return true;
}

void SayTooLate() {
  const char* why = WhyCollectorLeft();
  Say("no CUPTI: %s; API hooks keep recording", why != nullptr ? why : "another tool came first");
}

void Begin() {
  const Start start = StartCollector({recorder, &library, record_kinds, others_are_ours});
  if (start == Start::kStarted) return;
  DisableRecords(library, record_kinds);
  switch (start) {
    case Start::kTooLate:
      return SayTooLate();
    case Start::kNoClock:
      return Say("no CUPTI: its clock cannot be read; API hooks keep recording");
    default:
      return Say("no CUPTI: its thread cannot be started; API hooks keep recording");
  }
}

}  // namespace

void StartTracer(const VramtrackRecorder* of_process) {
  if (recorder != nullptr) return;
  recorder = of_process;
  if (!Prepare()) return;
  GiveWayToOthers(recorder, LeaveToOther);
  if (WhyCollectorLeft() != nullptr) return SayTooLate();
  if (!FindCupti() || !EnableKinds()) return;
  Begin();
}

void Say(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  recorder->say(line);
}

}  // namespace vramtrack::cupti
