// SPDX-License-Identifier: Apache-2.0
//
// The trace of this process, for libvramtrack_cupti.so.
#include "proto/recorder_interface.h"

#include <atomic>
#include <cstring>

#include "interpose/hooks/lookup.h"
#include "interpose/loader/import_patcher.h"
#include "interpose/recorder/clock.h"
#include "interpose/session/message.h"
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

std::atomic<const char* const*> redirected_names{nullptr};
std::atomic<void* const*> redirected_to{nullptr};

void* RedirectionFor(const LoadedObject&, const char* name, const void*) {
  const char* const* names = redirected_names.load(std::memory_order_acquire);
  for (size_t i = 0; names[i] != nullptr; ++i) {
    if (strcmp(names[i], name) == 0) return redirected_to.load(std::memory_order_relaxed)[i];
  }
  return nullptr;
}

void RedirectImports(const char* const* names, void* const* to) {
  redirected_to.store(to, std::memory_order_relaxed);
  redirected_names.store(names, std::memory_order_release);
  PatchImports(RedirectionFor);
}

constexpr VramtrackRecorder kRecorder = {
    VRAMTRACK_RECORDER_VERSION, Ticks, AppendActivities, FramesMayGo, SetDropped, SayLine, RedirectImports,
};

}  // namespace
}  // namespace vramtrack

extern "C" __attribute__((visibility("default"))) const VramtrackRecorder* vramtrack_recorder(void) {
  return &vramtrack::kRecorder;
}
