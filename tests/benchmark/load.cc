// SPDX-License-Identifier: Apache-2.0
//
// A process under load: many threads that all live at the same time, many live allocations, many distinct stacks, many
// modules, in any combination. Counts its own calls, so that a trace can be held against it.
//
// usage: load [--threads N] [--pairs N] [--rate N] [--live N] [--stacks N] [--modules N --library FILE --folder DIR]
//   --pairs    allocations of all threads together; each is freed
//   --rate     allocations and frees a second, of all threads together; 0: as fast as they go
//   --live     allocations that are alive at the same time, of all threads together
//   --stacks   distinct stacks that allocate
//   --modules  copies of FILE, made in DIR, that are loaded first; each allocates
// prints one JSON line
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  uint64_t threads = 1, pairs = 1000000, rate = 0, live = 1, stacks = 1, modules = 0;
  std::string library, folder;
};

constexpr size_t kBytes = 512;
constexpr int kDepth = 24;
// Pairs of a thread between two looks at the clock.
constexpr uint64_t kBurst = 64;
// What loaded_library.cc does: one allocation for as long as it is loaded, and two pairs.
constexpr uint64_t kEventsOfModule = 6;

std::atomic<uint64_t> calls{0};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "load: %s\n", what.c_str());
  std::exit(1);
}

__attribute__((noinline)) void* Allocate() {
  void* pointer = nullptr;
  if (cudaMalloc(&pointer, kBytes) != cudaSuccess) Fail("cudaMalloc");
  return pointer;
}

void Free(void* pointer) {
  if (cudaFree(pointer) != cudaSuccess) Fail("cudaFree");
}

// Two functions that call each other or themselves, as the bits of `path` say: 2^kDepth different stacks.
__attribute__((noinline)) void* Left(int depth, uint64_t path);
__attribute__((noinline)) void* Right(int depth, uint64_t path);

inline void* Descend(int depth, uint64_t path) {
  if (depth == 0) return Allocate();
  return (path & 1) != 0 ? Left(depth - 1, path >> 1) : Right(depth - 1, path >> 1);
}
void* Left(int depth, uint64_t path) {
  void* pointer = Descend(depth, path);
  asm volatile("# left" : : : "memory");  // no tail call, and not the same code as Right
  return pointer;
}
void* Right(int depth, uint64_t path) {
  void* pointer = Descend(depth, path);
  asm volatile("# right" : : : "memory");
  return pointer;
}

// The share of `total` that thread `index` has.
uint64_t Share(uint64_t total, uint64_t threads, uint64_t index) { return total / threads + (index < total % threads); }

// The oldest allocation is freed where the next one has no room.
void Work(const Options& options, uint64_t index, pthread_barrier_t* barrier) {
  const uint64_t pairs = Share(options.pairs, options.threads, index);
  std::vector<void*> live(std::max<uint64_t>(1, Share(options.live, options.threads, index)));
  const double ns_per_burst =
      options.rate == 0 ? 0 : 2e9 * kBurst * static_cast<double>(options.threads) / static_cast<double>(options.rate);
  uint64_t made = 0;
  pthread_barrier_wait(barrier);
  const auto start = Clock::now();
  for (uint64_t i = 0; i < pairs; ++i) {
    if (options.rate != 0 && i % kBurst == 0) {
      const double due_ns = ns_per_burst * static_cast<double>(i / kBurst);
      std::this_thread::sleep_until(start + std::chrono::nanoseconds(static_cast<int64_t>(due_ns)));
    }
    void** slot = &live[i % live.size()];
    if (*slot != nullptr) {
      Free(*slot);
      ++made;
    }
    *slot = Descend(kDepth, (i * options.threads + index) % options.stacks);
    ++made;
  }
  // All are alive now, in all threads.
  pthread_barrier_wait(barrier);
  for (void* pointer : live) {
    if (pointer == nullptr) continue;
    Free(pointer);
    ++made;
  }
  calls += made;
}

std::string CopyName(const Options& options, uint64_t i) {
  return options.folder + "/module" + std::to_string(i) + ".so";
}

std::vector<void*> LoadModules(const Options& options) {
  std::vector<void*> modules;
  for (uint64_t i = 0; i < options.modules; ++i) {
    const std::string copy = CopyName(options, i);
    std::ofstream(copy, std::ios::binary) << std::ifstream(options.library, std::ios::binary).rdbuf();
    modules.push_back(dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (modules.back() == nullptr) Fail(dlerror());
    reinterpret_cast<void (*)()>(dlsym(modules.back(), "allocate"))();
  }
  return modules;
}

void UnloadModules(const Options& options, const std::vector<void*>& modules) {
  for (uint64_t i = modules.size(); i-- > 0;) {
    if (dlclose(modules[i]) != 0) Fail(dlerror());
    unlink(CopyName(options, i).c_str());
  }
  calls += kEventsOfModule * modules.size();
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

double ProcessorSeconds() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--threads") == 0) options.threads = std::max<uint64_t>(1, value);
    if (std::strcmp(argv[i], "--pairs") == 0) options.pairs = value;
    if (std::strcmp(argv[i], "--rate") == 0) options.rate = value;
    if (std::strcmp(argv[i], "--live") == 0) options.live = value;
    if (std::strcmp(argv[i], "--stacks") == 0) options.stacks = std::max<uint64_t>(1, value);
    if (std::strcmp(argv[i], "--modules") == 0) options.modules = value;
    if (std::strcmp(argv[i], "--library") == 0) options.library = argv[i + 1];
    if (std::strcmp(argv[i], "--folder") == 0) options.folder = argv[i + 1];
  }
  const auto start = Clock::now();
  const std::vector<void*> modules = LoadModules(options);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(options.threads));
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < options.threads; ++i) {
    threads.emplace_back([&options, &barrier, i] { Work(options, i, &barrier); });
  }
  for (std::thread& thread : threads) thread.join();
  UnloadModules(options, modules);
  std::printf("{\"events\": %llu, \"seconds\": %.6f, \"processor_s\": %.6f, \"resident_kib\": %lu}\n",
              static_cast<unsigned long long>(calls.load()),
              std::chrono::duration<double>(Clock::now() - start).count(), ProcessorSeconds(), ResidentKib());
  return 0;
}
