// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_OTHER_PROCESS_H_
#define TESTS_SIMCUDA_DEVICE_OTHER_PROCESS_H_

#include <sys/types.h>

namespace vramtrack::simcuda {

// Opens the file with the memory of a device of another process, which `process` has open as `file`. Returns -1 if the
// process has exited, or if `file` is -1 (no backing).
int OpenFileOf(pid_t process, int file);

// Returns whether the process still runs. Memory that it exported is gone when it exits.
bool Runs(pid_t process);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_OTHER_PROCESS_H_
