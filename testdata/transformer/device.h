// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_DEVICE_H_
#define TESTDATA_TRANSFORMER_DEVICE_H_

namespace transformer {

inline constexpr int kExitUsage = 2;
inline constexpr int kExitNoDevice = 77;

// Makes `device` the current one and asks for its name and memory, which `verbose` prints on stderr. Returns 0, or
// prints one line that begins with `program` and returns the exit status: kExitNoDevice, or kExitUsage for a device
// that is not there. A CUDA error ends the process.
int SelectDevice(const char* program, int device, bool verbose);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_DEVICE_H_
