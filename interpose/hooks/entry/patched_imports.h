// SPDX-License-Identifier: Apache-2.0
//
// Records calls that do not reach the hooks through the dynamic linker, by patching the imports of the calling
// libraries.
#ifndef INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_
#define INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_

namespace vramtrack {

// CUPTI calls of other tools. CUPTI supports one client at a time, so libvramtrack_cupti.so must know of these calls
// before they happen. They are watched from the start of the program if CUPTI was requested, and otherwise once there
// is a listener: in libraries that import functions of libcupti, and in those that look them up with dlsym.

// Watches the imports of libraries that were loaded since the last call, for these calls and for those that end a
// process, as far as they are watched. Takes the loader's lock of its list.
void WatchNewLibraries();

// For dlsym: returns the wrapper to give instead of `found`, the function of this name, or null if dlsym should return
// `found` itself.
void* CuptiWrapperFor(const char* name, void* found);

// Returns whether CUPTI calls are watched.
bool AreCuptiCallsWatched();

// Libraries whose calls bypass the hooks: all libraries if the driver loaded this one (CUDA_INJECTION64_PATH) instead
// of LD_PRELOAD, and libraries that were loaded with RTLD_DEEPBIND. Their imports are patched to point to the hooks.

// Notes that a library was or will be loaded with RTLD_DEEPBIND. From now on, imports that bypass the hooks are
// searched whenever the list of loaded libraries has changed.
void ExpectDeepBinding();

// Patches the imports of libraries that were loaded since the last call. For a process that was joined.
void PatchNewLibraries();

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_ENTRY_PATCHED_IMPORTS_H_
