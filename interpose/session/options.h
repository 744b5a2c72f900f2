// SPDX-License-Identifier: Apache-2.0
//
// The options that environment variables set. docs/run.md has their names and defaults.
#ifndef INTERPOSE_SESSION_OPTIONS_H_
#define INTERPOSE_SESSION_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/holders/holders.h"

namespace vramtrack {

struct Options {
  static constexpr size_t kPathBytes = 4096;

  char output[kPathBytes];  // VRAMTRACK_OUTPUT with %p, %h and %r replaced
  bool native_stacks;       // VRAMTRACK_STACKS
  bool python_stacks;
  size_t max_frames;      // VRAMTRACK_MAX_FRAMES
  uint64_t max_bytes;     // VRAMTRACK_MAX_BYTES: the limit of the file
  HolderMoments holders;  // VRAMTRACK_HOLDERS
  bool dormant;           // VRAMTRACK_DORMANT: record nothing until `vramtrack start`
};

// Reads the options from the environment at the start of the process (environment.h). %p is the calling process, which
// may be a child that was forked later. Invalid values are reported once on stderr and replaced by the default. Returns
// false, and reports the reason, if recording is not possible.
bool ReadOptions(Options* options);

// Writes to `numbered` an alternative for a path that exists already: 2 makes job.vtrace to job.2.vtrace. The number
// precedes the extension, so that a search for trace files finds the file. Returns false if the path is longer than
// `capacity`.
bool NumberedPath(const char* path, uint64_t number, char* numbered, size_t capacity);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_OPTIONS_H_
