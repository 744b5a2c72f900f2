// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CUPTI_SIMULATED_CUPTI_H_
#define TESTS_CUPTI_SIMULATED_CUPTI_H_

#include <cstdlib>
#include <string>

namespace vramtrack {

// The file that an environment variable of the test names.
inline std::string PathOf(const char* variable) {
  char* real = realpath(getenv(variable), nullptr);
  std::string path = real == nullptr ? "" : real;
  free(real);
  return path;
}

// A LD_LIBRARY_PATH with the simulated device and the simulated CUPTI of that major version, by all names that are
// asked for and down to the oldest version: the machine may have a CUPTI of its own. SIMCUDA, SIMCUPTI_12 and
// SIMCUPTI_13 name the libraries.
inline std::string SimulatedLibraries(int major) {
  const std::string library = PathOf(major == 13 ? "SIMCUPTI_13" : "SIMCUPTI_12");
  const std::string folder = std::string(getenv("TEST_TMPDIR")) + "/cupti" + std::to_string(major);
  const std::string command = "mkdir -p " + folder + " && cd " + folder + " && ln -sf " + library +
                              " libcupti.so.13 && ln -sf " + PathOf("SIMCUPTI_12") +
                              " libcupti.so.12 && ln -sf libcupti.so.12 libcupti.so.11.8";
  if (system(command.c_str()) != 0) return "";
  const std::string device = PathOf("SIMCUDA");
  return device.substr(0, device.rfind('/')) + ":" + folder;
}

// The same, with this file by all names of CUPTI, in a folder of that name.
inline std::string SimulatedDeviceAnd(const std::string& cupti, const std::string& name) {
  const std::string folder = std::string(getenv("TEST_TMPDIR")) + "/" + name;
  const std::string command =
      "mkdir -p " + folder + " && cd " + folder + " && cp -f " + cupti +
      " libcupti.so.13 && chmod u+w libcupti.so.13 && ln -sf libcupti.so.13 libcupti.so.12 && " +
      "ln -sf libcupti.so.13 libcupti.so.11.8";
  if (system(command.c_str()) != 0) return "";
  const std::string device = PathOf("SIMCUDA");
  return device.substr(0, device.rfind('/')) + ":" + folder;
}

}  // namespace vramtrack

#endif  // TESTS_CUPTI_SIMULATED_CUPTI_H_
