// SPDX-License-Identifier: Apache-2.0
//
// A fake libvramtrack.so for the tests of `run`. If FAKE_TRACE names a file, every process that loads this library
// leaves a copy of the file as its trace. It hooks nothing.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace {

std::string Replaced(std::string pattern, const std::string& from, const std::string& to) {
  size_t at = pattern.find(from);
  return at == std::string::npos ? pattern : pattern.replace(at, from.size(), to);
}

__attribute__((constructor)) void WriteTrace() {
  const char* trace = getenv("FAKE_TRACE");
  const char* output = getenv("VRAMTRACK_OUTPUT");
  if (trace == nullptr || output == nullptr) return;
  std::string path = Replaced(Replaced(output, "%p", std::to_string(getpid())), "%h", "host");
  std::ofstream(path, std::ios::binary) << std::ifstream(trace, std::ios::binary).rdbuf();
}

}  // namespace
