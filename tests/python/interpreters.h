// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_PYTHON_INTERPRETERS_H_
#define TESTS_PYTHON_INTERPRETERS_H_

#include <ostream>
#include <string>
#include <vector>

namespace vramtrack {

struct PythonProgram {
  std::string path;
  int minor = 0;
  std::string name;     // such as "Python3_11_7"
  std::string library;  // libpython, empty where there is none
  bool uses_library = false;
};

inline std::ostream& operator<<(std::ostream& out, const PythonProgram& python) { return out << python.path; }

// The CPython 3.8 and later of this machine that can call CUDA through ctypes, one of each version and build: those in
// PATH and those that pyenv keeps.
std::vector<PythonProgram> FindInterpreters();

}  // namespace vramtrack

#endif  // TESTS_PYTHON_INTERPRETERS_H_
