// SPDX-License-Identifier: Apache-2.0
//
// How long an allocation and its free take, at a given stack depth and number of threads. The same program measures
// cudaMalloc (with -DUSE_CUDA) and malloc, so that a tracer of either is measured on the same shape.
//
// usage: allocation_pairs --depth N --threads N --stacks N --pairs N     prints one JSON line
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#ifdef USE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

struct Options {
  int depth = 64, threads = 1;
  uint64_t stacks = 1, pairs = 200000;
};

constexpr size_t kBytes = 4096;
constexpr int kRounds = 9;

__attribute__((noinline)) void Pair() {
  void* pointer = nullptr;
#ifdef USE_CUDA
  if (cudaMalloc(&pointer, kBytes) != cudaSuccess) std::abort();
  cudaFree(pointer);
#else
  pointer = std::malloc(kBytes);
  asm volatile("" : : "r"(pointer) : "memory");
  std::free(pointer);
#endif
}

using Clock = std::chrono::steady_clock;

// Two functions that call each other or themselves, as the bits of `path` say: 2^n different stacks of the same depth.
__attribute__((noinline)) uint64_t Left(int depth, uint64_t path, uint64_t pairs);
__attribute__((noinline)) uint64_t Right(int depth, uint64_t path, uint64_t pairs);

inline uint64_t Descend(int depth, uint64_t path, uint64_t pairs) {
  if (depth <= 0) {
    for (uint64_t i = 0; i < pairs; ++i) Pair();
    return pairs;
  }
  return (path & 1) != 0 ? Left(depth - 1, path >> 1, pairs) : Right(depth - 1, path >> 1, pairs);
}
uint64_t Left(int depth, uint64_t path, uint64_t pairs) {
  const uint64_t done = Descend(depth, path, pairs);
  asm volatile("# left" : : : "memory");  // no tail call, and not the same code as Right
  return done;
}
uint64_t Right(int depth, uint64_t path, uint64_t pairs) {
  const uint64_t done = Descend(depth, path, pairs);
  asm volatile("# right" : : : "memory");
  return done;
}

// One round of a thread: all pairs from one stack, or each from the next of `stacks`.
void Round(const Options& options) {
  // The frames around Descend, from main or the thread's start to Pair, count as well.
  const int depth = std::max(0, options.depth - 5);
  if (options.stacks <= 1) {
    Descend(depth, 0, options.pairs);
    return;
  }
  for (uint64_t i = 0; i < options.pairs; ++i) Descend(depth, i * 0x9e3779b97f4a7c15 % options.stacks, 1);
}

double NsPerPair(const Options& options) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int t = 1; t < options.threads; ++t) {
    threads.emplace_back([&] {
      ++ready;
      while (!go) std::this_thread::yield();
      Round(options);
    });
  }
  while (ready < options.threads - 1) std::this_thread::yield();
  const auto start = Clock::now();
  go = true;
  Round(options);
  for (std::thread& thread : threads) thread.join();
  const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  return ns / (static_cast<double>(options.pairs) * options.threads);
}

// The most memory that the process has held so far, in KiB.
unsigned long ResidentKib() {
  char line[256];
  unsigned long kib = 0;
  std::FILE* status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  while (std::fgets(line, sizeof line, status) != nullptr && std::sscanf(line, "VmHWM: %lu", &kib) != 1) {
  }
  std::fclose(status);
  return kib;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--depth") == 0) options.depth = static_cast<int>(value);
    if (std::strcmp(argv[i], "--threads") == 0) options.threads = static_cast<int>(value);
    if (std::strcmp(argv[i], "--stacks") == 0) options.stacks = value;
    if (std::strcmp(argv[i], "--pairs") == 0) options.pairs = value;
  }
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(NsPerPair(options));
  std::sort(rounds.begin(), rounds.end());
  std::printf(
      "{\"depth\": %d, \"threads\": %d, \"stacks\": %llu, \"pairs\": %llu, \"ns_min\": %.1f, \"ns_median\": %.1f, "
      "\"resident_kib\": %lu}\n",
      options.depth, options.threads, static_cast<unsigned long long>(options.stacks),
      static_cast<unsigned long long>(options.pairs * kRounds * static_cast<uint64_t>(options.threads)), rounds.front(),
      rounds[rounds.size() / 2], ResidentKib());
  return 0;
}
