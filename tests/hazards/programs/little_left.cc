// SPDX-License-Identifier: Apache-2.0
//
// little_left as|data|files|file_bytes N COUNT: leaves itself N KiB of address space or of data beyond what it has, N
// descriptors, or N bytes for each file; needs none of that itself, and allocates and frees COUNT times.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/hazards/programs/device.h"

namespace {

// KiB, or -1.
long FromStatus(const char* name) {
  static char text[8192];
  const int fd = open("/proc/self/status", O_RDONLY);
  const ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  text[bytes > 0 ? bytes : 0] = '\0';
  const char* line = std::strstr(text, name);
  return line != nullptr ? std::atol(line + std::strlen(name)) : -1;
}

void Limit(int resource, rlim_t value) {
  const rlimit limit = {value, value};
  if (setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) std::puts("no limit set");
}

}  // namespace

int main(int, char** argv) {
  static char buffer[256];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  const std::string what = argv[1];
  const rlim_t more = static_cast<rlim_t>(std::atol(argv[2]));
  if (what == "as") Limit(RLIMIT_AS, (static_cast<rlim_t>(FromStatus("VmSize:")) + more) << 10);
  if (what == "data") Limit(RLIMIT_DATA, (static_cast<rlim_t>(FromStatus("VmData:")) + more) << 10);
  if (what == "files") Limit(RLIMIT_NOFILE, more);
  if (what == "file_bytes") Limit(RLIMIT_FSIZE, more);
  const unsigned count = static_cast<unsigned>(std::atoi(argv[3]));
  for (unsigned i = 0; i < count; ++i) Varied(i, 12);
  std::puts("done");
  return 0;
}
