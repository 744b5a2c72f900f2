// SPDX-License-Identifier: Apache-2.0
//
// many_libraries COUNT LIBRARY FOLDER: loads so many copies of a library one after the other, each of which allocates,
// and keeps them all; then unloads every other one, and calls the rest again.
#include <dlfcn.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/hazards/programs/device.h"

int main(int, char** argv) {
  const int count = std::atoi(argv[1]);
  std::vector<void*> libraries;
  for (int i = 0; i < count; ++i) {
    const std::string copy = std::string(argv[3]) + "/copy" + std::to_string(i) + ".so";
    std::ofstream(copy, std::ios::binary) << std::ifstream(argv[2], std::ios::binary).rdbuf();
    void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 1;
    reinterpret_cast<void (*)()>(dlsym(library, "allocate"))();
    libraries.push_back(library);
  }
  for (int i = 0; i < count; i += 2) dlclose(libraries[static_cast<size_t>(i)]);
  for (int i = 1; i < count; i += 2) {
    reinterpret_cast<void (*)()>(dlsym(libraries[static_cast<size_t>(i)], "allocate"))();
  }
  for (int i = 0; i < count; ++i) unlink((std::string(argv[3]) + "/copy" + std::to_string(i) + ".so").c_str());
  std::printf("%zu\n", libraries.size());
  return 0;
}
