// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <stdio.h>

#include <atomic>
#include <cstring>

#include "interpose/base/message.h"
#include "interpose/base/spin_lock.h"
#include "interpose/frameworks/allocator.h"
#include "interpose/hooks/entry/patched_imports.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/loader/import_patcher.h"
#include "interpose/session/environment.h"
#include "interpose/session/session.h"
#include "interpose/stacks/module_map.h"
#include "vramtrack/vramtrack.h"

extern "C" {
void* vramtrack_dlsym(void* handle, const char* name) __attribute__((visibility("hidden")));
__attribute__((visibility("default"))) int InitializeInjection();
__attribute__((visibility("default"))) int vramtrack_start(const char* options, char* message, size_t capacity);
__attribute__((visibility("default"))) int vramtrack_stop();
}

namespace vramtrack {
namespace {

std::atomic<bool> by_driver{false};    // it was the driver that loaded this library
std::atomic<bool> has_imports{false};  // of functions of CUDA, in any library

// Whether an import leads to the real function.
bool IsRealOf(Entry entry, const LoadedObject& importer, const void* bound) {
  LoadedObject library;
  if (!FindLoadedObject(bound, &library)) return false;
  if (IsOfFramework(entry)) return importer.Needs(library.name()) || importer.base() == library.base();
  return IsCudaLibrary(library.name());
}

// Another tool's wrapper is left in its place: it calls the next one itself.
void* HookFor(const LoadedObject& importer, const char* name, const void* bound) {
  const bool late = joined.load(std::memory_order_relaxed);
  const Entry entry = EntryNamed(name);
  if (entry != Entry::kCount) {
    // An import that has not been called yet leads to a stub in its own library.
    const bool unbound = importer.Contains(bound);
    if (!(late && unbound) && !IsRealOf(entry, importer, bound)) return nullptr;
    has_imports.store(true, std::memory_order_relaxed);
    return wrappers[static_cast<size_t>(entry)][kBySymbol];
  }
  if (!late || name[0] != 'd' || name[1] != 'l') return nullptr;
  if (strcmp(name, "dlsym") == 0) return reinterpret_cast<void*>(&vramtrack_dlsym);
  if (strcmp(name, "dlclose") == 0) return reinterpret_cast<void*>(static_cast<int (*)(void*)>(&dlclose));
  return nullptr;
}

BorrowedImports imports(HookFor);

void OnLoaded() {
  NoteUnknownTorchAllocators();
  imports.BorrowNew();
}

// Redirects the calls of a process that was joined, or gives its imports back once it has stopped. Of several threads
// that do so at once, the last one sees what all others have done. A process that the driver has made load this library
// keeps its hooks: nothing from outside need join it to go on.
void Settle() {
  if (!joined.load(std::memory_order_acquire)) return;
  while (true) {
    const bool off = !by_driver.load(std::memory_order_relaxed) && Session::HasLeft();
    if (off) {
      imports.GiveBack();
    } else {
      imports.Borrow();
    }
    if (off == (!by_driver.load(std::memory_order_relaxed) && Session::HasLeft())) return;
  }
}

__attribute__((constructor)) void WatchLoading() {
  ModuleMap::on_loaded.store(&OnLoaded, std::memory_order_release);
  Session::on_switched.store(&Settle, std::memory_order_release);
}

// Whether the program's own start brought this library in: libraries that are loaded later come after libc.
bool IsPreloaded() {
  bool ours_first = false;
  EachLoadedObject([&](const LoadedObject& object) {
    ours_first = IsOwnObject(object);
    return !ours_first && strncmp(object.name(), "libc.so", 7) != 0;
  });
  return ours_first;
}

}  // namespace

void PatchNewLibraries() {
  static std::atomic<unsigned long long> seen{0};
  const unsigned long long now = LibrariesLoaded();
  if (seen.exchange(now, std::memory_order_relaxed) != now) imports.BorrowNew();
}

void ExpectDeepBinding() { imports.Begin(); }

}  // namespace vramtrack

// The program itself or `vramtrack attach` calls this, at any time, on any thread.
int vramtrack_start(const char* options, char* message, size_t capacity) {
  using namespace vramtrack;  // NOLINT
  *message = '\0';
  ThreadState& thread = thread_state;
  if (thread.busy) return VRAMTRACK_NOT_POSSIBLE;
  thread.busy = true;
  int result = VRAMTRACK_STARTED;
  NoteCurrentThread();
  static SpinLock starting;  // the second of two finds that recording has begun
  Session* session;
  bool recorded;
  {
    const SpinLockHolder hold(&starting);
    const CapturedMessages reason(message, capacity);
    session = Session::Running();
    recorded = session != nullptr && session->records();
    // Without options, those of the last time stay.
    const bool set = *options == '\0' || Environment::Override(options);
    if (!recorded) session = set ? Session::Join() : nullptr;
  }
  if (session == nullptr) {
    if (*message == '\0') snprintf(message, capacity, "recording is not possible in this process");
    result = VRAMTRACK_NOT_POSSIBLE;
  } else {
    snprintf(message, capacity, "%s", session->file().path());
    if (!IsPreloaded()) {
      joined.store(true, std::memory_order_release);
      Settle();
    }
    if (recorded) {
      result = VRAMTRACK_ALREADY_RECORDING;
    } else if (!IsPreloaded() && !has_imports.load(std::memory_order_relaxed)) {
      result = VRAMTRACK_STARTED_WITHOUT_CALLERS;
    }
  }
  thread.busy = false;
  return result;
}

int vramtrack_stop() {
  using namespace vramtrack;  // NOLINT
  ThreadState& thread = thread_state;
  const bool nested = thread.busy;
  thread.busy = true;
  const bool stopped = Session::StopRecording();
  thread.busy = nested;
  return stopped ? 1 : 0;
}

// The driver calls this at cuInit for the library that CUDA_INJECTION64_PATH names; 1 means success. Functions that a
// statically linked runtime has looked up before are not reached.
int InitializeInjection() {
  using namespace vramtrack;  // NOLINT
  if (IsPreloaded() || joined.exchange(true)) return 1;
  by_driver.store(true, std::memory_order_relaxed);
  imports.Borrow();
  if (!has_imports.load(std::memory_order_relaxed)) {
    Say("loaded too late: the program contains the CUDA runtime and has already looked up its functions; preload this "
        "library (LD_PRELOAD) to record its calls");
  }
  return 1;
}
