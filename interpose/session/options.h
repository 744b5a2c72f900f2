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

// Reads the environment. Values that make no sense are reported once on stderr and replaced by the default.
void ReadOptions(Options* options);

// The job's rank of this process from the variables that launchers set, or -1.
int RankFromEnvironment();

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_OPTIONS_H_
