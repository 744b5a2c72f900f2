// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/entry/patched_imports.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "interpose/hooks/table/lookup.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/loader/import_patcher.h"
#include "interpose/session/cupti_request.h"
#include "proto/recorder_interface.h"

namespace vramtrack {
namespace {

using Listener = void (*)(uint32_t call, uint64_t argument);
using Function = int (*)(uint64_t, uint64_t, uint64_t);

std::atomic<bool> watching{false};
std::atomic<Listener> listener{nullptr};

// What holds from before there was a listener.
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
  if (const Listener told = listener.load(std::memory_order_acquire)) {
    told(call, argument);
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
  EachLoadedObject([&](const LoadedObject& object, size_t) {
    if (importer.Needs(object.name())) found = object.Find(name);
    return found == nullptr;
  });
  return found;
}

bool MayBeWatched(const char* name) { return strncmp(name, "cupti", 5) == 0; }

void* WrapperForImport(const LoadedObject& importer, const char* name, const void* bound) {
  for (size_t i = 0; i < kWatchedCount; ++i) {
    if (strcmp(name, kWatched[i].name) != 0) continue;
    if (IsOwnAddress(bound)) return nullptr;
    void* const found = importer.Contains(bound) ? Definition(importer, name) : const_cast<void*>(bound);
    return found != nullptr ? WrapperAt(i, found) : nullptr;
  }
  return nullptr;
}

NewImports new_imports(MayBeWatched, WrapperForImport);

void Watch() {
  watching.store(true, std::memory_order_release);
  WatchNewCuptiCalls();
}

__attribute__((constructor)) void WatchIfAsked() {
  if (IsCuptiAsked()) Watch();
}

}  // namespace

bool AreCuptiCallsWatched() { return watching.load(std::memory_order_acquire); }

void WatchNewCuptiCalls() { new_imports.Patch(); }

void* CuptiWrapperFor(const char* name, void* found) {
  if (found == nullptr || IsOwnAddress(found)) return nullptr;
  for (size_t i = 0; i < kWatchedCount; ++i) {
    if (strcmp(name, kWatched[i].name) == 0) return WrapperAt(i, found);
  }
  return nullptr;
}

void ListenToCuptiCalls(void (*told)(uint32_t call, uint64_t argument)) {
  Watch();
  listener.store(told, std::memory_order_release);
  const uint64_t kinds = enabled.load();
  for (uint64_t kind = 0; kind < 64; ++kind) {
    if ((kinds >> kind & 1) != 0) told(VRAMTRACK_CUPTI_ENABLE, kind);
  }
  if (has_clock.load()) told(VRAMTRACK_CUPTI_SET_CLOCK, 0);
  if (registered.load()) told(VRAMTRACK_CUPTI_REGISTER, 0);
}

}  // namespace vramtrack
