// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_OPTIONS_H_
#define TESTS_SIMCUDA_DEVICE_OPTIONS_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack::simcuda {

// What the SIMCUDA_* environment variables ask for. docs/simulated-cuda.md lists them.
struct Options {
  int devices = 1;
  size_t memory_bytes = size_t{80} << 30;  // of each device
  size_t context_bytes = 0;                // taken from a device while it has a context
  bool backed = true;                      // device memory can be read and written
  int compute_major = 8;
  int compute_minor = 0;
  int driver_version = 0;   // 0: that of the headers
  int runtime_version = 0;  // the same
  int64_t allocation_delay_ns = 0;
  int64_t event_delay_us = 0;
  bool log = false;
  bool log_kernels = false;
  bool log_unsupported = false;
  bool stats = false;
};

// Read once, at the first call. A value that makes no sense is reported on stderr and the default is kept. Thread safe.
const Options& GetOptions();

// "80G", "512M", "2048K" or plain bytes. Returns false, and leaves `bytes` alone, for anything else.
bool ParseBytes(const char* text, size_t* bytes);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_OPTIONS_H_
