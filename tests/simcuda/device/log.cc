// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/log.h"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace vramtrack::simcuda {

std::atomic<uint64_t> counters[static_cast<int>(Counter::kCount)];

void LogLine(const char* format, ...) {
  const int saved_errno = errno;
  char line[1024] = "simcuda: ";
  const size_t prefix = strlen(line);
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(line + prefix, sizeof(line) - prefix - 1, format, arguments);
  va_end(arguments);
  if (written >= 0) {
    const size_t length = strlen(line);
    line[length] = '\n';
    if (write(STDERR_FILENO, line, length + 1) < 0) {
      // A closed stderr is the program's own business.
    }
  }
  errno = saved_errno;
}

}  // namespace vramtrack::simcuda
