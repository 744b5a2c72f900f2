// SPDX-License-Identifier: Apache-2.0
//
// Calls of libraries that do not reach the hooks through the dynamic linker: their imports are patched.
#ifndef INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_
#define INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_

#include <cstdint>

namespace vramtrack {

// Other tools' calls of CUPTI. CUPTI has one client at a time, so libvramtrack_cupti.so must know of these calls before
// they happen. They are watched from the start of the program if CUPTI was asked for, and otherwise once there is a
// listener: in libraries that import functions of libcupti, and in those that look them up with dlsym.

// `listener(call, argument)`, with a VramtrackCuptiCall, before each call from now on, in its thread; and once for each
// that still holds from before. One listener for good.
void ListenToCuptiCalls(void (*listener)(uint32_t call, uint64_t argument));

// Watches the imports of libraries that were loaded since it was last called, if there are any. Takes the loader's
// short lock for its list.
void WatchNewCuptiCalls();

// For dlsym: what to answer for `found`, the function of this name, or null where that may be told as it is.
void* CuptiWrapperFor(const char* name, void* found);

// Whether calls are watched.
bool AreCuptiCallsWatched();

// Ways to end a process without atexit handlers: _exit and exec. The trace loses nothing, but the records that
// libvramtrack_cupti.so has not fetched yet would be lost.

// From now on `on_end` is called before a library's call of _exit or _Exit, and `on_exec` before one of execve, execv,
// execvp or execvpe, which may fail; both in any thread, at any place, in children too. To be called once.
void ListenToProcessEnds(void (*on_end)(), void (*on_exec)());

// Patches the imports of libraries that were loaded since, if there is a listener.
void WatchNewProcessEnds();

// Libraries whose calls bypass the hooks: all of them if the driver loaded this library (CUDA_INJECTION64_PATH) instead
// of LD_PRELOAD, and those that were loaded with RTLD_DEEPBIND. Their imports are patched to point to the hooks.

// A library was or is about to be loaded with RTLD_DEEPBIND: from now on imports that have gone past the hooks are
// looked for whenever the loader's list of libraries has changed.
void ExpectDeepBinding();

// Whether the driver loaded this library. It is not in the scope of any other library then.
bool IsInjected();

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_
