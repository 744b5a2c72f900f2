// SPDX-License-Identifier: Apache-2.0
//
// Loads the library into a process that runs, and starts recording there.
#ifndef ANALYZER_ATTACH_INJECTION_H_
#define ANALYZER_ATTACH_INJECTION_H_

#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vramtrack {

struct Injection {
  pid_t pid = 0;
  std::string library;  // its path as the process sees it
  std::string options;  // lines NAME=VALUE, see vramtrack_start in vramtrack.h
  double limit_s = 10;  // how long to look for a moment at which a thread can be used
};

struct Injected {
  int result = 0;       // of vramtrack_start
  std::string message;  // likewise: the path of the trace, or why there is none
  double pause_s = 0;   // how long one thread of the process was paused, at most
  int moments = 0;      // that were tried
};

// Returns an error, one line that names the process, on a machine for which there is no code to inject.
absl::Status CheckInjectable(pid_t pid);

// Stops one thread at a time, until one is at a moment at which it can create a thread. Only that thread stops, and
// only for this; the new thread loads the library while the program goes on. Needs the permission to trace the process
// with ptrace. The error is one line that names the process.
absl::StatusOr<Injected> Inject(const Injection& injection);

}  // namespace vramtrack

#endif  // ANALYZER_ATTACH_INJECTION_H_
