// SPDX-License-Identifier: Apache-2.0
//
// process_tree: the parent allocates, forks a child that allocates and leaks its own, and one that executes this
// program again. Prints each process's role and pid.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

namespace {

void* Take(size_t bytes) {
  void* pointer = nullptr;
  return cudaMalloc(&pointer, bytes) == cudaSuccess ? pointer : nullptr;
}

void Say(const char* role) {
  std::printf("%s %d\n", role, static_cast<int>(getpid()));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    Say("executed");
    for (int i = 0; i < 5; ++i) Take(3 << 20);
    return 0;
  }
  Say("parent");
  void* kept = Take(1 << 20);
  std::thread other([] {
    for (int i = 0; i < 20000; ++i) cudaFree(Take(4096));
  });
  if (fork() == 0) {
    Say("forked");
    for (int i = 0; i < 3; ++i) Take(2 << 20);
    _exit(0);
  }
  wait(nullptr);
  if (fork() == 0) {
    execl("/proc/self/exe", argv[0], "again", nullptr);
    _exit(1);
  }
  int status = 0;
  wait(&status);
  other.join();
  cudaFree(kept);
  return WEXITSTATUS(status);
}
