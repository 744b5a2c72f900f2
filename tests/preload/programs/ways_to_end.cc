// SPDX-License-Identifier: Apache-2.0
//
// ways_to_end WAY: allocates 100 times, frees 60 of them, and ends.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

void* at_exit = nullptr;

void Work() {
  for (int i = 0; i < 100; ++i) {
    void* pointer = nullptr;
    if (cudaMalloc(&pointer, 4096) != cudaSuccess) std::abort();
    if (i < 60) cudaFree(pointer);
    at_exit = pointer;
  }
}

// An exception through frames that called CUDA must find its handler.
__attribute__((noinline)) void Throw() {
  void* pointer = nullptr;
  cudaMalloc(&pointer, 64);
  cudaFree(pointer);
  throw std::runtime_error("caught");
}

}  // namespace

int main(int, char** argv) {
  const std::string way = argv[1];
  std::puts("begun");
  std::fflush(stdout);
  Work();
  if (way == "return") return 3;
  if (way == "exit") std::exit(4);
  if (way == "exit_in_thread") std::thread([] { std::exit(5); }).join();
  if (way == "_exit") _exit(6);
  if (way == "quick_exit") std::quick_exit(7);
  if (way == "abort") std::abort();
  if (way == "sigterm") raise(SIGTERM);
  if (way == "sigkill") raise(SIGKILL);
  if (way == "segv") raise(SIGSEGV);
  if (way == "exec") execlp("echo", "echo", "executed", nullptr);
  if (way == "atexit") {
    std::atexit([] { cudaFree(at_exit); });
    return 8;
  }
  if (way == "throw") {
    try {
      Throw();
    } catch (const std::exception& e) {
      std::puts(e.what());
      return 9;
    }
  }
  return 1;
}
