// SPDX-License-Identifier: Apache-2.0
//
// The environment as it was when this library was loaded. By its first CUDA call a program may have cleared its
// environment, written a title over it (setproctitle), or gone to another folder.
#ifndef INTERPOSE_SESSION_ENVIRONMENT_H_
#define INTERPOSE_SESSION_ENVIRONMENT_H_

#include <cstddef>

namespace vramtrack {

// Immutable; lives as long as the process, and in its forked children.
class Environment {
 public:
  // Copies the environment at its first call, which this library's constructor makes. Thread-safe without a lock. Null
  // where there is no memory.
  static const Environment* AtStart();

  // The value of a variable that matters (see environment.cc), or null.
  const char* Find(const char* name) const;
  // The working directory; empty where the process had none that it could reach.
  const char* folder() const { return text_; }
  // All that are kept: NAME=VALUE, each with its zero; an empty one ends them.
  const char* variables() const { return text_ + folder_bytes_; }

 private:
  static Environment* Copy();

  size_t folder_bytes_;
  char text_[];
};

// Whether a variable is kept and recorded: it matters to memory, or to this library, and holds no secret.
bool MattersToTrace(const char* variable);

// The job's rank of this process from the variables that launchers set, or -1. A worker may set its own after its
// start, so the present environment goes before the one at the start.
int RankOfProcess();

// What the processes of one run have in common, from the environment at the start; see FindRunId.
void RunIdOfProcess(char* id, size_t capacity);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_ENVIRONMENT_H_
