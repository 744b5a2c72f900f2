// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_OPTIONS_H_
#define TESTS_SIMCUDA_DEVICE_OPTIONS_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack::simcuda {

// The values of the SIMCUDA_* environment variables. docs/internals/simulated-cuda.md lists them.
struct Options {
  int devices = 1;
  size_t memory_bytes = size_t{80} << 30;  // memory of each device
  size_t context_bytes = 0;                // memory that a context takes from its device
  bool backed = true;                      // device memory can be read and written
  bool integrated = false;                 // the device's memory is the host's
  int compute_major = 8;
  int compute_minor = 0;
  int driver_version = 0;   // 0: the version of the headers
  int runtime_version = 0;  // 0: the version of the headers
  int64_t allocation_delay_ns = 0;
  int64_t event_delay_us = 0;
  bool log = false;
  bool log_kernels = false;
  bool log_unsupported = false;
  bool stats = false;
};

// Returns the options, which the first call reads. It reports an invalid value on stderr and keeps the default.
// Thread-safe.
const Options& GetOptions();

// Parses a size such as "80G", "512M", "2048K" or a number of bytes. Returns false, and leaves `bytes` unchanged, for
// anything else.
bool ParseBytes(const char* text, size_t* bytes);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_OPTIONS_H_
