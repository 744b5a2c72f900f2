// SPDX-License-Identifier: Apache-2.0
//
// Gives libvramtrack_cupti.so access to the trace of this process, and reports the calls to it that it must know of.
#include "proto/recorder_interface.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "interpose/base/clock.h"
#include "interpose/base/message.h"
#include "interpose/hooks/entry/patched_imports.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/loader/import_patcher.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/session/cupti_request.h"
#include "interpose/session/session.h"

namespace vramtrack {
namespace {

using Listener = void (*)(uint32_t call, uint64_t argument);
using Function = int (*)(uint64_t, uint64_t, uint64_t);

std::atomic<bool> watching{false};
std::atomic<Listener> listener{nullptr};

// CUPTI calls that are in effect from before there was a listener.
std::atomic<bool> registered{false}, has_clock{false};
std::atomic<uint64_t> enabled{0};  // kinds, one bit each

void Note(uint32_t call, uint64_t argument) {
  const uint64_t bit = argument < 64 ? uint64_t{1} << argument : 0;
  switch (call) {
    case VRAMTRACK_CUPTI_REGISTER:
      return registered.store(true);
    case VRAMTRACK_CUPTI_SET_CLOCK:
      return has_clock.store(true);
    case VRAMTRACK_CUPTI_ENABLE:
      enabled.fetch_or(bit);
      return;
    case VRAMTRACK_CUPTI_DISABLE:
      enabled.fetch_and(~bit);
      return;
    default:  // VRAMTRACK_CUPTI_FINALIZE
      registered.store(false);
      has_clock.store(false);
      enabled.store(0);
  }
}

template <size_t Index>
int Watched(uint64_t first, uint64_t second, uint64_t third);

struct WatchedFunction {
  const char* name;
  uint32_t call;
  Function wrapper;
};
constexpr WatchedFunction kWatched[] = {
    {"cuptiActivityRegisterCallbacks", VRAMTRACK_CUPTI_REGISTER, Watched<0>},
    {"cuptiActivityRegisterCallbacks_v2", VRAMTRACK_CUPTI_REGISTER, Watched<1>},
    {"cuptiActivityRegisterTimestampCallback", VRAMTRACK_CUPTI_SET_CLOCK, Watched<2>},
    {"cuptiActivityEnable", VRAMTRACK_CUPTI_ENABLE, Watched<3>},
    {"cuptiActivityDisable", VRAMTRACK_CUPTI_DISABLE, Watched<4>},
    {"cuptiFinalize", VRAMTRACK_CUPTI_FINALIZE, Watched<5>},
};
constexpr size_t kWatchedCount = sizeof kWatched / sizeof *kWatched;

// Of the first CUPTI that was seen; another one's functions are left alone, for which the tracer stays away.
std::atomic<void*> real[kWatchedCount];

// Each takes up to three words, which go on as they came.
template <size_t Index>
int Watched(uint64_t first, uint64_t second, uint64_t third) {
  const uint32_t call = kWatched[Index].call;
  const uint64_t argument =
      call == VRAMTRACK_CUPTI_ENABLE || call == VRAMTRACK_CUPTI_DISABLE ? static_cast<uint32_t>(first) : first;
  if (const Listener listening = listener.load(std::memory_order_acquire)) {
    listening(call, argument);
  } else {
    Note(call, argument);
  }
  return reinterpret_cast<Function>(real[Index].load(std::memory_order_acquire))(first, second, third);
}

void* WrapperAt(size_t index, void* found) {
  void* none = nullptr;
  if (!real[index].compare_exchange_strong(none, found) && none != found) return nullptr;
  return reinterpret_cast<void*>(kWatched[index].wrapper);
}

// What an import that has not been called yet leads to.
void* Definition(const LoadedObject& importer, const char* name) {
  void* found = nullptr;
  EachLoadedObject([&](const LoadedObject& object) {
    if (importer.Needs(object.name())) found = object.Find(name);
    return found == nullptr;
  });
  return found;
}

void* WrapperForImport(const LoadedObject& importer, const char* name, const void* bound) {
  for (size_t i = 0; i < kWatchedCount; ++i) {
    if (strcmp(name, kWatched[i].name) != 0) continue;
    if (IsOwnAddress(bound)) return nullptr;
    void* const found = importer.Contains(bound) ? Definition(importer, name) : const_cast<void*>(bound);
    return found != nullptr ? WrapperAt(i, found) : nullptr;
  }
  return nullptr;
}

void (*before_end)();
void (*before_exec)();
std::atomic<bool> ends_listened_to{false};

// This library's own imports are not patched: these calls are of the real functions.
[[noreturn]] void End(int status) {
  before_end();
  _exit(status);
}

int Execve(const char* path, char* const* words, char* const* environment) {
  before_exec();
  return execve(path, words, environment);
}

int Execv(const char* path, char* const* words) {
  before_exec();
  return execv(path, words);
}

int Execvp(const char* file, char* const* words) {
  before_exec();
  return execvp(file, words);
}

int Execvpe(const char* file, char* const* words, char* const* environment) {
  before_exec();
  return execvpe(file, words, environment);
}

struct Replaced {
  const char* name;
  void* by;
};
const Replaced kReplaced[] = {
    {"_exit", reinterpret_cast<void*>(&End)},     {"_Exit", reinterpret_cast<void*>(&End)},
    {"execve", reinterpret_cast<void*>(&Execve)}, {"execv", reinterpret_cast<void*>(&Execv)},
    {"execvp", reinterpret_cast<void*>(&Execvp)}, {"execvpe", reinterpret_cast<void*>(&Execvpe)},
};

void* ReplacementForEnd(const char* name) {
  if (name[0] != '_' && name[0] != 'e') return nullptr;
  for (const Replaced& each : kReplaced) {
    if (strcmp(name, each.name) == 0) return each.by;
  }
  return nullptr;
}

bool IsOfCupti(const char* name) { return strncmp(name, "cupti", 5) == 0; }

bool IsWanted(const char* name) {
  return IsOfCupti(name) ? AreCuptiCallsWatched()
                         : ends_listened_to.load(std::memory_order_acquire) && ReplacementForEnd(name) != nullptr;
}

void* ReplacementFor(const LoadedObject& importer, const char* name, const void* bound) {
  return IsOfCupti(name) ? WrapperForImport(importer, name, bound) : ReplacementForEnd(name);
}

NewImports new_imports(IsWanted, ReplacementFor);

void Watch() {
  if (watching.exchange(true)) {
    new_imports.Patch();
  } else {
    new_imports.PatchAll();
  }
}

__attribute__((constructor)) void WatchIfAsked() {
  if (IsCuptiAsked()) Watch();
}

}  // namespace

bool AreCuptiCallsWatched() { return watching.load(std::memory_order_acquire); }

void WatchNewLibraries() {
  if (AreCuptiCallsWatched() || ends_listened_to.load(std::memory_order_acquire)) new_imports.Patch();
}

void* CuptiWrapperFor(const char* name, void* found) {
  if (found == nullptr || IsOwnAddress(found)) return nullptr;
  for (size_t i = 0; i < kWatchedCount; ++i) {
    if (strcmp(name, kWatched[i].name) == 0) return WrapperAt(i, found);
  }
  return nullptr;
}

namespace {

// Sets the only listener, for the rest of the process. From now on `listener(call, argument)`, with a
// VramtrackCuptiCall, is called before each CUPTI call, in the thread of the call. It is first called once for each
// earlier call that is still in effect.
void ListenToCuptiCalls(void (*on_call)(uint32_t call, uint64_t argument)) {
  Watch();
  listener.store(on_call, std::memory_order_release);
  const uint64_t kinds = enabled.load();
  for (uint64_t kind = 0; kind < 64; ++kind) {
    if ((kinds >> kind & 1) != 0) on_call(VRAMTRACK_CUPTI_ENABLE, kind);
  }
  if (has_clock.load()) on_call(VRAMTRACK_CUPTI_SET_CLOCK, 0);
  if (registered.load()) on_call(VRAMTRACK_CUPTI_REGISTER, 0);
}

// Process ends without atexit handlers: _exit and exec. The trace itself loses nothing, but the records that
// libvramtrack_cupti.so has not fetched yet would be lost.
//
// Calls `on_end` before a call of _exit or _Exit by a library or the program, and `on_exec` before one of execve,
// execv, execvp or execvpe, which may fail. Both may run in any thread, at any place in its code, and in forked
// children. Call this function once.
void ListenToProcessEnds(void (*on_end)(), void (*on_exec)()) {
  before_end = on_end;
  before_exec = on_exec;
  ends_listened_to.store(true, std::memory_order_release);
  new_imports.PatchAll();
}

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
  EachLoaderEntry([&](const dl_phdr_info& info) {
    const LoadedObject object(info);
    if (object.Contains(known) || object.Find(name) == nullptr) return true;
    strncpy(path, info.dlpi_name[0] != '\0' ? info.dlpi_name : "the program itself", sizeof path - 1);
    return false;
  });
  return path[0] != '\0' ? path : nullptr;
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

VRAMTRACK_EXPORT const VramtrackRecorder* vramtrack_recorder(void) {
  vramtrack::NoteCuptiTracer();
  return &vramtrack::kRecorder;
}
