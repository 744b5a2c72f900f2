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

#define VRAMTRACK_RECORDER_VERSION 1u

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
  // Points imports of `names` (which ends with a null), in every library that is loaded, at the functions `to`; an
  // import that `to` already stands in is left alone. For functions of CUPTI: not of what this library hooks itself.
  void (*redirect_imports)(const char* const* names, void* const* to);
};

// The one function of it that libvramtrack.so exports; never null.
const struct VramtrackRecorder* vramtrack_recorder(void);

#ifdef __cplusplus
}
#endif

#endif  // PROTO_RECORDER_INTERFACE_H_
