// SPDX-License-Identifier: Apache-2.0
//
// usage: use_pjrt PLUGIN [threads]
// Uses a plugin as JAX does. Of each step it keeps one of the two results. With the second argument, threads execute
// the same first.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "interpose/frameworks/xla/pjrt_abi.h"

using namespace vramtrack;  // NOLINT

namespace {

constexpr int kThreads = 8;

const pjrt::Api* api;

template <class T>
pjrt::Error* Do(int which, T* arguments) {
  arguments->struct_size = sizeof *arguments;
  return api->functions[which](arguments);
}

template <class T>
void Check(int which, T* arguments) {
  if (Do(which, arguments) == nullptr) return;
  std::printf("function %d fails\n", which);
  std::exit(1);
}

pjrt::Buffer* FromHost(int64_t bytes, pjrt::Memory* memory = nullptr) {
  pjrt::BufferFromHostBuffer from = {};
  from.dimensions = &bytes;
  from.dimension_count = 1;
  from.memory = memory;
  Check(pjrt::kClientBufferFromHostBuffer, &from);
  return from.buffer;
}

void Destroy(pjrt::Buffer* buffer) {
  pjrt::BufferArguments destroy = {};
  destroy.buffer = buffer;
  Check(pjrt::kBufferDestroy, &destroy);
}

void Delete(pjrt::Buffer* buffer) {
  pjrt::BufferArguments deletion = {};
  deletion.buffer = buffer;
  Check(pjrt::kBufferDelete, &deletion);
}

// The results are in `outputs`. The weights are taken over.
void Execute(pjrt::LoadedExecutable* executable, pjrt::Buffer* weights, pjrt::Buffer* batch, pjrt::Buffer** outputs) {
  pjrt::Buffer* inputs[] = {weights, batch};
  pjrt::Buffer** input_list = inputs;
  pjrt::Execute run = {};
  run.executable = executable;
  run.arguments = &input_list;
  run.devices = 1;
  run.argument_count = 2;
  run.outputs = &outputs;
  Check(pjrt::kLoadedExecutableExecute, &run);
}

// Threads that execute it for the first time, all at once.
void ExecuteInThreads(pjrt::LoadedExecutable* executable) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      pjrt::Buffer *weights = FromHost(4096), *batch = FromHost(1000);
      pjrt::Buffer* outputs[2] = {};
      ++ready;
      while (ready < kThreads) {
      }
      Execute(executable, weights, batch, outputs);
      for (pjrt::Buffer* buffer : {weights, batch, outputs[0], outputs[1]}) Destroy(buffer);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int count, char** arguments) {
  void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return std::printf("%s\n", dlerror()), 1;
  using GetPjrtApi = const pjrt::Api* (*)();
  api = reinterpret_cast<GetPjrtApi>(dlsym(plugin, "GetPjrtApi"))();
  if (api != reinterpret_cast<GetPjrtApi>(dlsym(plugin, "GetPjrtApi"))()) return std::puts("another table"), 1;
  auto* const executable = reinterpret_cast<pjrt::LoadedExecutable* (*)()>(dlsym(plugin, "TheExecutable"))();
  auto* const host = reinterpret_cast<pjrt::Memory* (*)()>(dlsym(plugin, "HostMemory"))();
  if (count > 2) ExecuteInThreads(executable);
  pjrt::Buffer* weights = FromHost(4096);
  for (int step = 0; step < 60; ++step) {
    pjrt::Buffer* batch = FromHost(1000);
    pjrt::Buffer* outputs[2] = {};
    Execute(executable, weights, batch, outputs);
    Destroy(weights);  // was taken over
    weights = outputs[0];
    // Deleted arrays are destroyed later. outputs[1] leaks.
    Delete(batch);
    Destroy(batch);
  }
  Destroy(FromHost(700, host));
  pjrt::CopyTo copy = {};
  copy.buffer = weights;
  Check(pjrt::kBufferCopyToDevice, &copy);
  Destroy(copy.copy);
  copy.destination = host;
  Check(pjrt::kBufferCopyToMemory, &copy);
  Destroy(copy.copy);
  const int64_t too_much = int64_t{512} << 20;
  pjrt::BufferFromHostBuffer failing = {};
  failing.dimensions = &too_much;
  failing.dimension_count = 1;
  pjrt::ErrorArguments destroy = {{sizeof destroy, nullptr}, Do(pjrt::kClientBufferFromHostBuffer, &failing)};
  if (destroy.error == nullptr) return std::puts("it has room"), 1;
  api->functions[pjrt::kErrorDestroy](&destroy);
  pjrt::LoadedExecutableArguments end = {};
  end.executable = executable;
  Check(pjrt::kLoadedExecutableDestroy, &end);
  const int left = reinterpret_cast<int (*)()>(dlsym(plugin, "LiveExecutables"))();
  if (left != 0) std::printf("%d executables are not destroyed\n", left);
  Destroy(weights);
  std::printf("fine\n");
}
