// SPDX-License-Identifier: Apache-2.0
//
// Records calls that do not reach the hooks through the dynamic linker, by patching the imports of the calling
// libraries.
#ifndef INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_
#define INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_

#include <cstdint>

namespace vramtrack {

// CUPTI calls of other tools. CUPTI supports one client at a time, so libvramtrack_cupti.so must know of these calls
// before they happen. They are watched from the start of the program if CUPTI was requested, and otherwise once there
// is a listener: in libraries that import functions of libcupti, and in those that look them up with dlsym.

// Sets the only listener, for the rest of the process. From now on `listener(call, argument)`, with a
// VramtrackCuptiCall, is called before each CUPTI call, in the thread of the call. It is first called once for each
// earlier call that is still in effect.
void ListenToCuptiCalls(void (*listener)(uint32_t call, uint64_t argument));

// Watches the imports of libraries that were loaded since the last call. Takes the loader's lock of its list.
void WatchNewCuptiCalls();

// For dlsym: returns the wrapper to give instead of `found`, the function of this name, or null if dlsym should return
// `found` itself.
void* CuptiWrapperFor(const char* name, void* found);

// Returns whether CUPTI calls are watched.
bool AreCuptiCallsWatched();

// Process ends without atexit handlers: _exit and exec. The trace itself loses nothing, but the records that
// libvramtrack_cupti.so has not fetched yet would be lost.

// Calls `on_end` before a call of _exit or _Exit by a library or the program, and `on_exec` before one of execve,
// execv, execvp or execvpe, which may fail. Both may run in any thread, at any place in its code, and in forked
// children. Call this function once.
void ListenToProcessEnds(void (*on_end)(), void (*on_exec)());

// Patches the imports of libraries that were loaded since the last call, if there is a listener.
void WatchNewProcessEnds();

// Libraries whose calls bypass the hooks: all libraries if the driver loaded this one (CUDA_INJECTION64_PATH) instead
// of LD_PRELOAD, and libraries that were loaded with RTLD_DEEPBIND. Their imports are patched to point to the hooks.

// Notes that a library was or will be loaded with RTLD_DEEPBIND. From now on, imports that bypass the hooks are
// searched whenever the list of loaded libraries has changed.
void ExpectDeepBinding();

// Patches the imports of libraries that were loaded since the last call. For a process that was joined.
void PatchNewLibraries();

// Returns whether the driver loaded this library, or a process was joined. The library is then not in the symbol scope
// of any other library.
bool IsInjected();

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_
