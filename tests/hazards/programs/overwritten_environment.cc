// SPDX-License-Identifier: Apache-2.0
//
// overwritten_environment clear|null|title|keep FOLDER: before its first CUDA call it loses its environment, goes to a
// folder inside of FOLDER and removes that. "title" writes over the arguments and the environment where the kernel has
// put them, as setproctitle does. A forked child does the same calls.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/hazards/programs/device.h"

extern char** environ;

namespace {

void WriteTitle(char** argv) {
  char* end = argv[0];
  for (char** argument = argv; *argument != nullptr; ++argument) end = *argument + strlen(*argument) + 1;
  for (char** variable = environ; *variable != nullptr; ++variable) end = *variable + strlen(*variable) + 1;
  memset(argv[0], 'x', static_cast<size_t>(end - argv[0]) - 1);
}

}  // namespace

int main(int, char** argv) {
  const std::string way = argv[1];
  const std::string folder = std::string(argv[2]) + "/elsewhere";
  if (mkdir(folder.c_str(), 0700) != 0 || chdir(folder.c_str()) != 0 || rmdir(folder.c_str()) != 0) return 1;
  if (way == "clear" && clearenv() != 0) return 2;
  if (way == "null") environ = nullptr;
  if (way == "title") WriteTitle(argv);
  const pid_t child = fork();
  Pairs(80000);
  if (child == 0) _exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%d\n", WEXITSTATUS(status));
  return 0;
}
