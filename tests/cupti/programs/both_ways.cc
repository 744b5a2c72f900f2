// SPDX-License-Identifier: Apache-2.0
//
// usage: both_ways ROUNDS HIDDEN_ROUNDS [exit|_exit|quick_exit|exec|late|abort|fork|spawn|other|detach|unset]
// Allocates through the runtime, ROUNDS times each kind, and through a library's private way. What is live at the end:
// 3 MiB by cudaMalloc, and 5 MiB of the library's for each hidden round. Then it ends in the way named; "other" first
// asks CUPTI for its records, as another profiler would, and goes on for as many rounds, "detach" detaches it, "unset"
// has taken the driver's variable out of the environment.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

extern "C" void* TakeHidden(size_t bytes);
extern "C" void GiveHidden(void* address);

#ifdef WITH_CUPTI
extern "C" int cuptiActivityRegisterCallbacks(void (*)(uint8_t**, size_t*, size_t*),
                                              void (*)(void*, uint32_t, uint8_t*, size_t, size_t));
extern "C" int cuptiFinalize();
#endif

namespace {

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  printf("error %d\n", static_cast<int>(error));
  fflush(stdout);
  abort();
}

void Round(int i) {
  const size_t bytes = 4096 * static_cast<size_t>(1 + i % 7);
  void* device = nullptr;
  void* on_stream = nullptr;
  void* pinned = nullptr;
  void* managed = nullptr;
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  Check(cudaMalloc(&device, bytes));
  Check(cudaMallocAsync(&on_stream, bytes, nullptr));
  Check(cudaMallocHost(&pinned, bytes));
  Check(cudaMallocManaged(&managed, bytes));
  Check(cudaMallocArray(&array, &format, 64, 64));
  Check(cudaMemset(device, 0, bytes));
  Check(cudaMemcpy(device, pinned, bytes, cudaMemcpyHostToDevice));
  Check(cudaFreeArray(array));
  Check(cudaFree(managed));
  Check(cudaFreeHost(pinned));
  Check(cudaFreeAsync(on_stream, nullptr));
  Check(cudaFree(device));
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? atoi(words[1]) : 1;
  const int hidden = count > 2 ? atoi(words[2]) : 0;
  const char* end = count > 3 ? words[3] : "exit";
  if (strcmp(end, "unset") == 0) unsetenv("CUDA_INJECTION64_PATH");
  void* kept = nullptr;
  Check(cudaMalloc(&kept, 3 << 20));
  for (int i = 0; i < rounds; ++i) Round(i);
  for (int i = 0; i < hidden; ++i) {
    GiveHidden(TakeHidden(1 << 20));
    TakeHidden(5 << 20);
  }
#ifdef WITH_CUPTI
  if (strcmp(end, "other") == 0) {
    cuptiActivityRegisterCallbacks([](uint8_t** buffer, size_t* bytes, size_t*) { *buffer = nullptr, *bytes = 0; },
                                   [](void*, uint32_t, uint8_t*, size_t, size_t) {});
    for (int i = 0; i < rounds; ++i) Round(i);
  }
  if (strcmp(end, "detach") == 0) {
    cuptiFinalize();
    for (int i = 0; i < rounds; ++i) Round(i);
  }
#endif
  if (strcmp(end, "fork") == 0) {
    // Others are in the middle of calls.
    std::atomic<bool> over{false};
    std::vector<std::thread> busy;
    for (int i = 0; i < 3; ++i) {
      busy.emplace_back([&] {
        while (!over.load()) Check(cudaMemset(kept, 0, 256));
      });
    }
    const pid_t child = fork();
    if (child == 0) {
      void* refused = nullptr;
      if (cudaMalloc(&refused, 4096) == cudaSuccess) _exit(4);  // CUDA does not work in a forked child
      exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    over.store(true);
    for (std::thread& thread : busy) thread.join();
    printf("child %d\n", WEXITSTATUS(status));
  }
  if (strcmp(end, "spawn") == 0) {
    char program[] = "/proc/self/exe", one[] = "1", none[] = "0", leave[] = "_exit";
    char* const command[] = {program, one, none, leave, nullptr};
    pid_t child;
    int status = -1;
    if (posix_spawn(&child, program, nullptr, nullptr, command, environ) == 0) waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
  puts("done");
  fflush(stdout);
  if (strcmp(end, "_exit") == 0) _exit(0);
  if (strcmp(end, "quick_exit") == 0) quick_exit(0);
  if (strcmp(end, "exec") == 0) {
    char name[] = "true";
    char* const command[] = {name, nullptr};
    execv("/nothing/there", command);
    execvp(name, command);
    return 1;
  }
  if (strcmp(end, "late") == 0) {
    usleep(2000000);  // CUPTI's records are fetched every now and then
    _exit(0);
  }
  if (strcmp(end, "abort") == 0) {
    usleep(2000000);
    abort();
  }
  return 0;
}
