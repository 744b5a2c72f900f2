// SPDX-License-Identifier: Apache-2.0
//
// Ways out of a process that run no atexit handler: _exit, and another program in its place. Nothing of a trace is lost
// by them, but what libvramtrack_cupti.so has still to fetch would be.
#ifndef INTERPOSE_HOOKS_ENTRY_PROCESS_ENDS_H_
#define INTERPOSE_HOOKS_ENTRY_PROCESS_ENDS_H_

namespace vramtrack {

// From now on `on_end` is called before a library's call of _exit or _Exit, and `on_exec` before one of execve, execv,
// execvp or execvpe, which may fail; both in any thread, at any place, in children too. To be called once.
void ListenToProcessEnds(void (*on_end)(), void (*on_exec)());

// Looks at the imports of libraries that were loaded since, if somebody listens.
void WatchNewProcessEnds();

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_ENTRY_PROCESS_ENDS_H_
