// SPDX-License-Identifier: Apache-2.0
//
// fork_and_exec [child]: runs itself in a child, by fork, vfork or posix_spawn, and by the shell. WAY is the first
// argument; the child has "child".
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/hazards/programs/device.h"

extern char** environ;

namespace {

int Status(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int Fork(char** arguments) {
  const pid_t child = fork();
  if (child == 0) {
    execv("/proc/self/exe", arguments);
    _exit(126);
  }
  return Status(child);
}

int Vfork(char** arguments) {
  const pid_t child = vfork();
  if (child == 0) {
    execv("/proc/self/exe", arguments);
    _exit(126);
  }
  return Status(child);
}

int VforkThatFails(char** arguments) {
  const pid_t child = vfork();
  if (child == 0) {
    execv("/nonexistent", arguments);
    _exit(5);
  }
  return Status(child);
}

int Spawn(char** arguments) {
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ);
  return error != 0 ? error : Status(child);
}

int System(char** arguments) { return system((std::string(arguments[0]) + " child").c_str()); }

int Popen(char** arguments) {
  FILE* pipe = popen((std::string(arguments[0]) + " child").c_str(), "r");
  char line[64] = {};
  while (fgets(line, sizeof line, pipe) != nullptr) std::printf("read %s", line);
  return pclose(pipe);
}

}  // namespace

int main(int, char** argv) {
  const std::string way = argv[1];
  if (way == "child") {
    Pairs(5);
    std::puts("child");
    return 6;
  }
  Pairs(10);
  std::fflush(stdout);
  char child[] = "child";
  char* arguments[] = {argv[0], child, nullptr};
  int status = -1;
  if (way == "fork") status = Fork(arguments);
  if (way == "vfork") status = Vfork(arguments);
  if (way == "vfork_that_fails") status = VforkThatFails(arguments);
  if (way == "posix_spawn") status = Spawn(arguments);
  if (way == "system") status = System(arguments);
  if (way == "popen") status = Popen(arguments);
  Pairs(10);
  std::printf("%d\n", status);
  return 0;
}
