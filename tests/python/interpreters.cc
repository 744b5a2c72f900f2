// SPDX-License-Identifier: Apache-2.0
#include "tests/python/interpreters.h"

#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace vramtrack {
namespace {

constexpr char kAsk[] =
    "import ctypes, os, platform, sys, sysconfig as s; "
    "assert platform.python_implementation() == 'CPython' and sys.version_info >= (3, 8); "
    "assert platform.machine() == sys.argv[1]; "
    "v = s.get_config_var; lib = os.path.join(v('LIBDIR') or '', v('INSTSONAME') or ''); "
    "print(os.path.realpath(sys.executable), sys.version_info[1], 'Python' + sys.version.split()[0].replace('.', '_')"
    ".replace('+', ''), int('/libpython' in open('/proc/self/maps').read()), lib if v('Py_ENABLE_SHARED') and "
    "os.path.exists(lib) "
    "else '')";

std::vector<std::string> Matches(const std::string& pattern) {
  glob_t found;
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
  }
  return paths;
}

std::string Output(const std::string& command) {
  std::string out;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    char buffer[512];
    while (fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
    if (pclose(pipe) != 0) out.clear();
  }
  return out;
}

}  // namespace

std::vector<PythonProgram> FindInterpreters() {
  std::vector<std::string> paths;
  std::istringstream path(getenv("PATH") != nullptr ? getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) {
    if (folder.find("/shims") != std::string::npos) continue;  // scripts that choose one
    for (const char* name : {"/python3", "/python3.[0-9]", "/python3.1[0-9]"}) {
      for (const std::string& one : Matches(folder + name)) paths.push_back(one);
    }
  }
  const char* root = getenv("PYENV_ROOT");
  const passwd* user = getpwuid(getuid());
  const std::string pyenv = root != nullptr ? root : std::string(user != nullptr ? user->pw_dir : "") + "/.pyenv";
  for (const std::string& one : Matches(pyenv + "/versions/3.*/bin/python3")) paths.push_back(one);

  // Under an emulator there are interpreters for another processor too.
  utsname machine;
  uname(&machine);
  std::vector<PythonProgram> found;
  std::set<std::string> real, names;
  for (const std::string& one : paths) {
    char* resolved = realpath(one.c_str(), nullptr);
    if (resolved == nullptr || !real.insert(resolved).second) {
      free(resolved);
      continue;
    }
    free(resolved);
    PythonProgram python;
    std::istringstream said(Output("'" + one + "' -c \"" + kAsk + "\" " + machine.machine + " 2>/dev/null"));
    if (!(said >> python.path >> python.minor >> python.name >> python.uses_library)) continue;
    said >> python.library;
    if (!names.insert(python.name).second) continue;
    found.push_back(python);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.minor < b.minor; });
  return found;
}

}  // namespace vramtrack
