// SPDX-License-Identifier: Apache-2.0
//
// whole_job STAGE WAY END: many hazards in one job. Each stage clears its environment, renames itself, allocates, and
// executes itself with the environment that it had. The third stage forks 200 children, and each of them
// allocates. It forks before its own first CUDA call, because CUDA does not work in children that are forked later.
// Then it allocates itself. END says how it ends: kill (SIGKILL) or exit.
//
//   kept      that is all
//   removed   the third stage's trace is removed while it allocates
//   replaced  another file takes the name of that trace
//   copied    a copy of that trace takes the name
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/hazards/programs/device.h"

extern char** environ;

namespace {

constexpr int kStages = 3, kChildren = 200;

std::vector<std::string> Copy(char** words) {
  std::vector<std::string> copy;
  for (; *words != nullptr; ++words) copy.push_back(*words);
  return copy;
}

std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

void RenameItself(char** argv) {
  prctl(PR_SET_NAME, "renamed");
  char* last = argv[0];
  for (char** argument = argv; *argument != nullptr; ++argument) last = *argument + std::strlen(*argument);
  std::memset(argv[0], 'x', static_cast<size_t>(last - argv[0]));
}

// Allocations that are freed, and as many that are not.
void Work(int count) {
  Pairs(count);
  for (int i = 0; i < count; ++i) Take(1 << 20);
}

// The trace of this process, or nothing where it is not traced.
std::string OwnTrace() {
  std::string found;
  DIR* folder = opendir("/proc/self/fd");
  while (const dirent* entry = folder != nullptr ? readdir(folder) : nullptr) {
    char path[4096];
    const ssize_t length = readlink(("/proc/self/fd/" + std::string(entry->d_name)).c_str(), path, sizeof path);
    const std::string name(path, length > 0 ? static_cast<size_t>(length) : 0);
    if (name.size() > 7 && name.compare(name.size() - 7, 7, ".vtrace") == 0) found = name;
  }
  closedir(folder);
  return found;
}

void LoseTrace(const std::string& way) {
  const std::string trace = OwnTrace();
  if (trace.empty() || way == "kept") return;
  if (way == "removed") {
    unlink(trace.c_str());
    return;
  }
  const std::string other = trace + ".other";
  std::ofstream out(other, std::ios::binary);
  if (way == "copied") {
    out << std::ifstream(trace, std::ios::binary).rdbuf();
  } else {
    out << "not a trace\n";
  }
  out.close();
  if (rename(other.c_str(), trace.c_str()) != 0) std::abort();
}

void ForkChildren() {
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      Work(5);
      _exit(i % 100);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != i % 100) std::printf("child %d: %d\n", i, status);
  }
}

}  // namespace

int main(int, char** argv) {
  std::vector<std::string> arguments = Copy(argv), environment = Copy(environ);
  const int stage = std::atoi(argv[1]);
  const std::string way = argv[2], end = argv[3];
  const bool last = stage + 1 == kStages;
  clearenv();
  RenameItself(argv);
  std::printf("stage %d\n", stage);
  std::fflush(stdout);
  if (last) ForkChildren();
  Work(100 * (stage + 1));
  if (!last) {
    arguments[1] = std::to_string(stage + 1);
    execve("/proc/self/exe", Pointers(&arguments).data(), Pointers(&environment).data());
    return 1;
  }
  LoseTrace(way);
  Work(50);
  std::puts("done");
  std::fflush(stdout);
  if (end == "kill") kill(getpid(), SIGKILL);
  return 0;
}
