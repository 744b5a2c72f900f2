// SPDX-License-Identifier: Apache-2.0
//
// What the environment asks for. Names and defaults are in docs/run.md.
#ifndef INTERPOSE_SESSION_OPTIONS_H_
#define INTERPOSE_SESSION_OPTIONS_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

struct Options {
  static constexpr size_t kPathBytes = 4096;

  char output[kPathBytes];  // VRAMTRACK_OUTPUT with %p, %h and %r filled in
  bool native_stacks;       // VRAMTRACK_STACKS
  bool python_stacks;
  size_t max_frames;   // VRAMTRACK_MAX_FRAMES
  uint64_t max_bytes;  // VRAMTRACK_MAX_BYTES, of disk
};

// Reads them from the environment at the start of the process (environment.h); %p is this process, which may be a child
// that was forked since. Values that make no sense are reported once on stderr and replaced by the default. False,
// reported as well, where there can be no recording.
bool ReadOptions(Options* options);

// The path of another file where there is one at `path` already: the number goes before the extension, so that whoever
// looks for trace files finds it. job.vtrace, 2: job.2.vtrace. False where it is longer than `capacity`.
bool NumberedPath(const char* path, uint64_t number, char* numbered, size_t capacity);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_OPTIONS_H_
