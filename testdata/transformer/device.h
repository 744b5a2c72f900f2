// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_DEVICE_H_
#define TESTDATA_TRANSFORMER_DEVICE_H_

namespace transformer {

inline constexpr int kExitUsage = 2;
inline constexpr int kExitNoDevice = 77;

// Makes `device` the current device, and with `verbose` prints its name and memory on stderr. Returns 0 on success. If
// there is no device, or no device with this number, prints one line that begins with `program` and returns
// kExitNoDevice or kExitUsage. A CUDA error ends the process.
int SelectDevice(const char* program, int device, bool verbose);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_DEVICE_H_
