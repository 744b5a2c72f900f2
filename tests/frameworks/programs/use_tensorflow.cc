// SPDX-License-Identifier: Apache-2.0
//
// Uses TensorFlow's allocators: one of a device, which serves 100 functions, one of pinned memory and one of the host,
// and one after another in the same place. Prints what reached the real functions.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <new>
#include <thread>
#include <vector>

#include "tests/frameworks/programs/tensorflow_framework.h"

namespace {

tsl::BFCAllocator* device;
std::vector<void*> kept;

// As the operations of a function, in another thread.
void Step() {
  std::thread([] {
    kept.push_back(device->AllocateRaw(1000));
    device->DeallocateRaw(device->AllocateRaw(5000));
  }).join();
}

}  // namespace

int main() {
  constexpr size_t kBytes = 1 << 20;
  void *memory = nullptr, *pinned = nullptr;
  static char host[kBytes];
  if (cudaMalloc(&memory, kBytes) != cudaSuccess || cudaMallocHost(&pinned, kBytes) != cudaSuccess) return 1;
  tsl::BFCAllocator gpu("GPU_0_bfc", memory, kBytes), gpu_host("gpu_host_bfc", pinned, kBytes),
      cpu("cpu", host, kBytes / 2);
  device = &gpu;
  for (int i = 0; i < 100; ++i) {
    gpu_host.DeallocateRaw(gpu_host.AllocateRaw(100));
    cpu.DeallocateRaw(cpu.AllocateRaw(3000));
    TFE_Op step{"__inference_step_" + std::to_string(40 + i / 50), &Step}, other{"MatMul", [] {}};
    int count;
    TFE_Execute(&step, nullptr, &count, nullptr);
    TFE_Execute(&other, nullptr, &count, nullptr);
  }
  // Each in the place of the one before.
  alignas(tsl::BFCAllocator) static char place[sizeof(tsl::BFCAllocator)];
  for (const char* name : {"a name of the host that is long", "GPU_0_bfc", "GPU_", "GPU_99_bfc"}) {
    auto* one = new (place) tsl::BFCAllocator(name, host + kBytes / 2, kBytes / 2);
    one->DeallocateRaw(one->AllocateRaw(777));
    one->~BFCAllocator();
  }
  std::printf("%d", gpu.AllocateRaw(kBytes) == nullptr);
  std::printf(" %d %d\n", static_cast<int>(tsl::BFCAllocator::traced), static_cast<int>(tsl::BFCAllocator::dumped));
}
