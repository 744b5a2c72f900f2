// SPDX-License-Identifier: Apache-2.0
//
// The environment at the time when this library was loaded. Before its first CUDA call a program may clear its
// environment, overwrite it with a process title (setproctitle), or change its working directory.
#ifndef INTERPOSE_SESSION_ENVIRONMENT_H_
#define INTERPOSE_SESSION_ENVIRONMENT_H_

#include <cstddef>

namespace vramtrack {

// Immutable; exists until the process ends, and in its forked children.
class Environment {
 public:
  // Returns the copy of the environment. The first call makes the copy: the constructor of this library, or an earlier
  // CUDA call. Returns null if there is no memory. Thread-safe, without a lock.
  static const Environment* AtStart();

  // Makes `lines` override the variables that AtStart() returns from now on: NAME=VALUE, one a line. Variables that
  // MattersToTrace rejects are ignored. Returns false if there is no memory. Thread-safe.
  static bool Override(const char* lines);

  // Returns the value of a variable, or null. Only variables that MattersToTrace accepts are kept.
  const char* Find(const char* name) const;
  // Returns the working directory, empty if it had no absolute path.
  const char* folder() const { return text_; }
  // Returns all kept variables as zero-terminated NAME=VALUE strings; an empty string ends the list.
  const char* variables() const { return text_ + folder_bytes_; }

 private:
  static Environment* Copy(const char* lines);

  size_t folder_bytes_;
  char text_[];
};

// Returns whether a variable (NAME=VALUE) is kept and recorded: it affects memory or this library, and its name does
// not suggest a secret.
bool MattersToTrace(const char* variable);

// Returns the rank of this process in its job, from the variables that launchers set, or -1. The present environment
// overrides the environment at the start, because a worker may set its rank later.
int RankOfProcess();

// Writes the id that all processes of one run share to `id`, from the environment at the start (see FindRunId).
void RunIdOfProcess(char* id, size_t capacity);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_ENVIRONMENT_H_
