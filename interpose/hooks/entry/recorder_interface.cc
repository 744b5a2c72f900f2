// SPDX-License-Identifier: Apache-2.0
//
// Gives libvramtrack_cupti.so access to the trace of this process.
#include "proto/recorder_interface.h"

#include <link.h>

#include <cstring>
#include <utility>

#include "interpose/base/clock.h"
#include "interpose/base/message.h"
#include "interpose/hooks/entry/patched_imports.h"
#include "interpose/hooks/table/lookup.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/session/cupti_request.h"
#include "interpose/session/session.h"

namespace vramtrack {
namespace {

// A session begins with it, whose clock it is.
uint64_t Ticks() { return Session::Get() != nullptr ? Clock::Ticks() : 0; }

int AppendActivities(uint8_t* frame, size_t bytes, uint64_t records) {
  Session* session = Session::Get();
  return session != nullptr && session->file().AppendActivities(frame, bytes, records) ? 1 : 0;
}

int FramesMayGo() {
  Session* session = Session::Get();
  return session != nullptr && session->file().bounded() ? 1 : 0;
}

void SetDropped(uint64_t records) {
  if (Session* session = Session::Get()) {
    session->file().counter(schema::COUNTER_ACTIVITIES_DROPPED)->store(records, std::memory_order_relaxed);
  }
}

void SayLine(const char* line) { Say("%s", line); }

void* LookUp(void* library, const char* name) { return RealDlsym()(library, name); }

const char* OtherOwner(const char* name, const void* known) {
  static char path[4096];
  path[0] = '\0';
  std::pair<const char*, const void*> what = {name, known};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        const auto& [wanted, own] = *static_cast<std::pair<const char*, const void*>*>(data);
        const LoadedObject object(*info);
        if (object.Contains(own) || object.Find(wanted) == nullptr) return 0;
        strncpy(path, info->dlpi_name[0] != '\0' ? info->dlpi_name : "the program itself", sizeof path - 1);
        return 1;
      },
      &what);
  return path[0] != '\0' ? path : nullptr;
}

void WatchNewLibraries() {
  WatchNewCuptiCalls();
  WatchNewProcessEnds();
}

constexpr VramtrackRecorder kRecorder = {
    VRAMTRACK_RECORDER_VERSION,
    Ticks,
    AppendActivities,
    FramesMayGo,
    SetDropped,
    SayLine,
    ListenToCuptiCalls,
    ListenToProcessEnds,
    WatchNewLibraries,
    LookUp,
    OtherOwner,
};

}  // namespace
}  // namespace vramtrack

extern "C" __attribute__((visibility("default"))) const VramtrackRecorder* vramtrack_recorder(void) {
  vramtrack::NoteCuptiTracer();
  return &vramtrack::kRecorder;
}
