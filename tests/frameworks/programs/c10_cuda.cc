// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for libc10_cuda: one segment from cudaMalloc, and blocks of it, each reported in its generation's way.
#include <cuda_runtime_api.h>

#include "tests/frameworks/programs/c10.h"

namespace {

using c10::Device;
constexpr size_t kSegmentBytes = 8 << 20;
char* segment;
int64_t given_out;

void Report(void* block, int64_t bytes, Device device) {
  given_out += device.type == 1 ? bytes : 0;
#if GENERATION == 1
  c10::reportMemoryUsageToProfiler(block, bytes, device);
#elif GENERATION == 2
  c10::reportMemoryUsageToProfiler(block, bytes, given_out, kSegmentBytes, device);
#elif GENERATION == 3
  c10::reportMemoryUsageToProfiler(block, bytes, static_cast<size_t>(given_out), kSegmentBytes, device);
#else
  c10::reportMemoryUsageToProfiler(block, bytes, static_cast<size_t>(given_out), device, GENERATION);
#endif
}

}  // namespace

// Ten blocks, of which four are given back, one of them at the end of a replay: given out twice without a free.
extern "C" __attribute__((visibility("default"))) c10::Told UseBlocks() {
  const Device cuda = {1, 0}, host = {0, -1};
  void* memory = nullptr;
  if (cudaMalloc(&memory, kSegmentBytes) != cudaSuccess) return {};
  segment = static_cast<char*>(memory);
  for (int i = 0; i < 10; ++i) Report(segment + i * 4096, 4096, cuda);
  for (int i = 0; i < 100; ++i) Report(&given_out, i % 2 == 0 ? 64 : -64, host);
  for (int i = 0; i < 3; ++i) Report(segment + i * 4096, -4096, cuda);
  Report(segment + 9 * 4096, 4096, cuda);
  Report(segment + 9 * 4096, -4096, cuda);
#if GENERATION == 2
  c10::reportOutOfMemoryToProfiler(1 << 30, given_out, kSegmentBytes, cuda);
  c10::reportOutOfMemoryToProfiler(1 << 30, given_out, kSegmentBytes, host);
#elif GENERATION == 3
  c10::reportOutOfMemoryToProfiler(1 << 30, static_cast<size_t>(given_out), kSegmentBytes, cuda);
  c10::reportOutOfMemoryToProfiler(1 << 30, static_cast<size_t>(given_out), kSegmentBytes, host);
#endif
  return c10::Told::Get();
}
