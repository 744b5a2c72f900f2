// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/options.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vramtrack::simcuda {
namespace {

constexpr int kMaxDevices = 64;

void Reject(const char* name, const char* value, const char* expected) {
  fprintf(stderr, "simcuda: %s=%s is ignored: expected %s\n", name, value, expected);
}

const char* Value(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

template <typename Number>
void ReadNumber(const char* name, long long low, long long high, Number* out) {
  const char* value = Value(name);
  if (value == nullptr) return;
  char* end = nullptr;
  const long long number = strtoll(value, &end, 10);
  if (*end != '\0' || number < low || number > high) {
    char expected[64];
    snprintf(expected, sizeof(expected), "a number from %lld to %lld", low, high);
    Reject(name, value, expected);
    return;
  }
  *out = static_cast<Number>(number);
}

void ReadSwitch(const char* name, bool* out) {
  const char* value = Value(name);
  if (value == nullptr) return;
  if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
    Reject(name, value, "0 or 1");
    return;
  }
  *out = *value == '1';
}

void ReadBytes(const char* name, size_t low, size_t* out) {
  const char* value = Value(name);
  if (value == nullptr) return;
  size_t bytes = 0;
  if (!ParseBytes(value, &bytes) || bytes < low || bytes > (size_t{1} << 40)) {
    Reject(name, value, "bytes, or a number with K, M or G, at most 1024G");
    return;
  }
  *out = bytes;
}

void ReadComputeCapability(Options* options) {
  const char* name = "SIMCUDA_COMPUTE_CAPABILITY";
  const char* value = Value(name);
  if (value == nullptr) return;
  int major = 0, minor = 0;
  char rest = '\0';
  if (sscanf(value, "%d.%d%c", &major, &minor, &rest) != 2 || major < 3 || major > 99 || minor < 0 || minor > 9) {
    Reject(name, value, "MAJOR.MINOR, such as 8.0");
    return;
  }
  options->compute_major = major;
  options->compute_minor = minor;
}

Options Read() {
  Options options;
  ReadNumber("SIMCUDA_DEVICES", 0, kMaxDevices, &options.devices);
  ReadBytes("SIMCUDA_MEMORY", size_t{2} << 20, &options.memory_bytes);
  ReadBytes("SIMCUDA_CONTEXT_MEMORY", 0, &options.context_bytes);
  ReadSwitch("SIMCUDA_BACKED", &options.backed);
  ReadSwitch("SIMCUDA_INTEGRATED", &options.integrated);
  ReadComputeCapability(&options);
  ReadNumber("SIMCUDA_DRIVER_VERSION", 1000, INT_MAX, &options.driver_version);
  ReadNumber("SIMCUDA_RUNTIME_VERSION", 1000, INT_MAX, &options.runtime_version);
  ReadNumber("SIMCUDA_ALLOCATION_DELAY_NS", 0, 1'000'000'000, &options.allocation_delay_ns);
  ReadNumber("SIMCUDA_EVENT_DELAY_US", 0, 60'000'000, &options.event_delay_us);
  ReadSwitch("SIMCUDA_LOG", &options.log);
  ReadSwitch("SIMCUDA_LOG_KERNELS", &options.log_kernels);
  ReadSwitch("SIMCUDA_LOG_UNSUPPORTED", &options.log_unsupported);
  ReadSwitch("SIMCUDA_STATS", &options.stats);
  return options;
}

}  // namespace

bool ParseBytes(const char* text, size_t* bytes) {
  if (*text < '0' || *text > '9') return false;
  char* end = nullptr;
  const unsigned long long number = strtoull(text, &end, 10);
  int shift = 0;
  switch (*end) {
    case 'K':
      shift = 10;
      break;
    case 'M':
      shift = 20;
      break;
    case 'G':
      shift = 30;
      break;
    case '\0':
      *bytes = number;
      return number != ULLONG_MAX;
    default:
      return false;
  }
  if (end[1] != '\0' || number > (SIZE_MAX >> shift)) return false;
  *bytes = static_cast<size_t>(number) << shift;
  return true;
}

const Options& GetOptions() {
  static const Options options = Read();
  return options;
}

}  // namespace vramtrack::simcuda
