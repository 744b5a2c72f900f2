// SPDX-License-Identifier: Apache-2.0
//
// What libvramtrack.so offers to libvramtrack_cupti.so: writing to its trace. The two are loaded separately and may be
// of different builds, so the interface is in C and has a version.
#ifndef PROTO_RECORDER_INTERFACE_H_
#define PROTO_RECORDER_INTERFACE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VRAMTRACK_RECORDER_VERSION 3u

// A function that another tool calls; `argument` is the kind of records for two of them.
enum VramtrackCuptiCall {
  VRAMTRACK_CUPTI_REGISTER,
  VRAMTRACK_CUPTI_SET_CLOCK,
  VRAMTRACK_CUPTI_ENABLE,
  VRAMTRACK_CUPTI_DISABLE,
  VRAMTRACK_CUPTI_FINALIZE,
};

// Functions may be called from any thread at any time, except `append_activities` in a forked child that has not called
// CUDA itself yet. None takes a lock of the program's.
struct VramtrackRecorder {
  uint32_t version;
  // Returns the time on the clock of events.
  uint64_t (*ticks)(void);
  // Appends a sealed Activities frame of `records` to this process's trace, and begins the trace if there is none.
  // Returns 0 if it was not written; its records are counted as unwritten. The frame has space for a generation if
  // needed.
  int (*append_activities)(uint8_t* frame, size_t bytes, uint64_t records);
  // Whether frames have a generation and may be removed: then definitions are valid only in their own frame.
  int (*frames_may_go)(void);
  // Sets the total number of records that CUPTI reports as dropped.
  void (*set_dropped)(uint64_t records);
  // Prints one line on stderr; a process may print only a few.
  void (*say)(const char* line);
  // From now on calls `before(call, argument)` before another tool calls a function of CUPTI's shared library, in the
  // thread of the call; and at once for earlier calls that are still in effect. Call it once.
  void (*listen_to_cupti)(void (*before)(uint32_t call, uint64_t argument));
  // From now on calls `on_end` before _exit, and `on_exec` before execve and the like, which may fail: in any thread,
  // at any place, in children too. Call it once.
  void (*listen_to_process_ends)(void (*on_end)(void), void (*on_exec)(void));
  // Looks for such calls in newly loaded libraries; call it now and then.
  void (*watch_new_libraries)(void);
  // dlsym without hooks.
  void* (*look_up)(void* library, const char* name);
  // Returns the path of a loaded library that exports a function of this name, other than the library of `known`; null
  // if there is none. Valid until the next call; only one thread may call it at a time.
  const char* (*other_owner)(const char* name, const void* known);
};

// The only function that libvramtrack.so exports for this; never returns null.
const struct VramtrackRecorder* vramtrack_recorder(void);

#ifdef __cplusplus
}
#endif

#endif  // PROTO_RECORDER_INTERFACE_H_
