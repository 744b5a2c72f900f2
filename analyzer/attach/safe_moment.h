// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTACH_SAFE_MOMENT_H_
#define ANALYZER_ATTACH_SAFE_MOMENT_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/attach/stopped_thread.h"
#include "analyzer/attach/target_process.h"

#if defined(__x86_64__)

namespace vramtrack {

// Decides whether a stopped thread may call pthread_create where it is. That function needs the locks of the heap and
// of the C library's list of stacks, and a heap that is not half-way through an operation of this thread. What other
// threads hold is only waited for. A thread may be used
//   in a system call that waits and that neither a heap nor those locks ever make, or
//   in code of the program or of a library other than the C library, the loader and allocators,
// unless a signal handler runs, which may have interrupted anything. Thread-compatible.
class SafeMoments {
 public:
  explicit SafeMoments(const TargetProcess& process);

  // Returns whether the thread may be used. `*why` says why not.
  bool IsSafe(const StoppedThread& thread, std::string* why) const;

  // Returns the threads of the process, those first that are most likely safe: they wait in a system call that a stop
  // does not disturb.
  std::vector<pid_t> Candidates() const;

 private:
  bool IsInHandler(uint64_t stack_pointer) const;

  const TargetProcess& process_;
  std::vector<uint64_t> handler_returns_;  // addresses to which signal handlers return
  bool program_has_heap_;
};

}  // namespace vramtrack

#endif  // defined(__x86_64__)

#endif  // ANALYZER_ATTACH_SAFE_MOMENT_H_
