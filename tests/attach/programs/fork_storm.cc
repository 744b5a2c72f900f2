// SPDX-License-Identifier: Apache-2.0
//
// Threads that fork and start programs all the time. A child uses the heap and ends with a code that depends on what it
// inherited.
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "tests/attach/programs/joined.h"

extern char** environ;

namespace {

int CodeOf(pid_t child) {
  int status;
  Check(child > 0, "no child", errno);
  Check(waitpid(child, &status, 0) == child, "waitpid", errno);
  Check(WIFEXITED(status), "a child ended by a signal", status);
  return WEXITSTATUS(status);
}

}  // namespace

int main() {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&ends, i] {
      for (int number = 0; !ends; ++number) {
        const pid_t child = fork();
        if (child == 0) {
          int* const block = new int[1000];
          block[0] = (number + i) % 100;
          const int code = block[0];
          delete[] block;
          _exit(code);
        }
        Check(CodeOf(child) == (number + i) % 100, "the code of a child", number);
      }
    });
  }
  threads.emplace_back([&ends] {
    while (!ends) {
      pid_t child;
      char name[] = "/bin/true";
      char* arguments[] = {name, nullptr};
      Check(posix_spawn(&child, name, nullptr, nullptr, arguments, environ) == 0, "posix_spawn", errno);
      Check(CodeOf(child) == 0, "the code of a program");
    }
  });
  Ready();
  while (!Ended()) usleep(1000);
  ends = true;
  for (std::thread& thread : threads) thread.join();
  return Fine();
}
