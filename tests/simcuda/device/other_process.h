// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_OTHER_PROCESS_H_
#define TESTS_SIMCUDA_DEVICE_OTHER_PROCESS_H_

#include <sys/types.h>

namespace vramtrack::simcuda {

// Opens the file that `process` has open as `file`, the memory of one of its devices, if it still runs; -1 otherwise,
// or if `file` is, as without backing.
int OpenFileOf(pid_t process, int file);

// Whether the process still runs: what it exported is gone with it.
bool Runs(pid_t process);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_OTHER_PROCESS_H_
