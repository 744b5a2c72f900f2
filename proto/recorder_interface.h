// SPDX-License-Identifier: Apache-2.0
//
// What libvramtrack.so offers to libvramtrack_cupti.so: its trace. The two are loaded one by one and may be of
// different builds, so this is C, and has a version.
#ifndef PROTO_RECORDER_INTERFACE_H_
#define PROTO_RECORDER_INTERFACE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VRAMTRACK_RECORDER_VERSION 3u

// What another tool calls; `argument` is the kind of records for two of them.
enum VramtrackCuptiCall {
  VRAMTRACK_CUPTI_REGISTER,
  VRAMTRACK_CUPTI_SET_CLOCK,
  VRAMTRACK_CUPTI_ENABLE,
  VRAMTRACK_CUPTI_DISABLE,
  VRAMTRACK_CUPTI_FINALIZE,
};

// Functions may be called from any thread, at any time, but for `append_activities` after a fork: not in a child before
// it has called CUDA itself. None takes a lock of the program's.
struct VramtrackRecorder {
  uint32_t version;
  // The clock of events.
  uint64_t (*ticks)(void);
  // Appends a sealed Activities frame of `records` to this process's trace, which begins with it if need be. 0: it was
  // not written, and its records are counted as such. The frame has room for a generation if that is wanted.
  int (*append_activities)(uint8_t* frame, size_t bytes, uint64_t records);
  // Whether frames have a generation and may go again: what they define holds for them alone.
  int (*frames_may_go)(void);
  // CUPTI says that it has dropped so many records, in all.
  void (*set_dropped)(uint64_t records);
  // One line on stderr; the process has few.
  void (*say)(const char* line);
  // From now on `before(call, argument)` is called before other tools call functions of CUPTI's shared library, in the
  // thread of the call; and at once for what holds from calls before. To be called once.
  void (*listen_to_cupti)(void (*before)(uint32_t call, uint64_t argument));
  // From now on `on_end` is called before _exit, and `on_exec` before execve and its like, which may fail: in any
  // thread, at any place, in children too. To be called once.
  void (*listen_to_process_ends)(void (*on_end)(void), void (*on_exec)(void));
  // Looks for such calls in libraries that were loaded since; now and then.
  void (*watch_new_libraries)(void);
  // dlsym without hooks.
  void* (*look_up)(void* library, const char* name);
  // The path of a loaded library that exports a function of this name, other than the library that `known` lies in;
  // null for none. Valid until the next call, which one thread makes at a time.
  const char* (*other_owner)(const char* name, const void* known);
};

// The one function of it that libvramtrack.so exports; never null.
const struct VramtrackRecorder* vramtrack_recorder(void);

#ifdef __cplusplus
}
#endif

#endif  // PROTO_RECORDER_INTERFACE_H_
