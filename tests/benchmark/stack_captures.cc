// SPDX-License-Identifier: Apache-2.0
//
// What a capture of a stack takes without the rest of a hook, and how it was come by.
//
// usage: stack_captures --depth N --stacks N --captures N [--on-foreign-stack 1] [--moving 1]
// One JSON line. --moving: each capture's stack is laid out as none before, so that it has to be walked.
#include <alloca.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "interpose/stacks/stack_capture.h"

namespace vramtrack {
namespace {

constexpr int kRounds = 9;

struct Options {
  int depth = 64;
  uint64_t stacks = 1, captures = 200000;
  bool on_foreign_stack = false, moving = false;
};

template <typename T>
T* Zeroed() {
  return static_cast<T*>(MapPrivate(sizeof(T)));
}

Options options;
StackCapture* capture = Zeroed<StackCapture>();
CaptureThread* thread;
StackTable* stacks = Zeroed<StackTable>();
ModuleMap* modules = Zeroed<ModuleMap>();
TraceFile* file = Zeroed<TraceFile>();
EventWriter* writer = Zeroed<EventWriter>();
uint64_t in_captures;  // ticks
std::vector<double> rounds;

__attribute__((noinline)) void Capture() {
  const uint64_t start = Clock::Ticks();
  const uint32_t stack = capture->Take(thread, nullptr, writer);
  in_captures += Clock::Ticks() - start;
  if (stack == 0) std::abort();
}

// Two functions that call each other or themselves, as the bits of `path` say: 2^n different stacks of the same depth.
__attribute__((noinline)) void Left(int depth, uint64_t path);
__attribute__((noinline)) void Right(int depth, uint64_t path);

inline void Descend(int depth, uint64_t path) {
  if (depth <= 0) {
    Capture();
  } else if ((path & 1) != 0) {
    Left(depth - 1, path >> 1);
  } else {
    Right(depth - 1, path >> 1);
  }
}
void Left(int depth, uint64_t path) {
  Descend(depth, path);
  asm volatile("# left" : : : "memory");  // no tail call, and not the same code as Right
}
void Right(int depth, uint64_t path) {
  Descend(depth, path);
  asm volatile("# right" : : : "memory");
}

__attribute__((noinline)) void Move(int depth, uint64_t path, size_t bytes) {
  auto* memory = static_cast<volatile char*>(alloca(bytes));
  memory[0] = 1;
  Descend(depth, path);
  asm volatile("" : : "r"(memory) : "memory");
}

void Run() {
  const int depth = std::max(0, options.depth - 7);
  size_t moved = 0;
  for (int round = 0; round < kRounds; ++round) {
    in_captures = 0;
    for (uint64_t i = 0; i < options.captures; ++i) {
      const uint64_t path = options.stacks <= 1 ? 0 : i * 0x9e3779b97f4a7c15 % options.stacks;
      Move(depth, path, options.moving ? moved += 16 : 16);
    }
    rounds.push_back(static_cast<double>(in_captures) * 1e9 / static_cast<double>(Clock::ticks_per_second()) /
                     static_cast<double>(options.captures));
  }
}

ucontext_t home, away;

int Main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--depth") == 0) options.depth = static_cast<int>(value);
    if (std::strcmp(argv[i], "--stacks") == 0) options.stacks = value;
    if (std::strcmp(argv[i], "--captures") == 0) options.captures = value;
    if (std::strcmp(argv[i], "--on-foreign-stack") == 0) options.on_foreign_stack = value != 0;
    if (std::strcmp(argv[i], "--moving") == 0) options.moving = value != 0;
  }
  const std::string path = "/tmp/stack_captures." + std::to_string(getpid()) + ".vtrace";
  Clock::Calibrate();
  if (file->Create(path.c_str(), UINT64_MAX) != 0) return 1;
  unlink(path.c_str());
  writer->Attach(file, file->NewJournal(), 0);
  capture->Prepare(kMaxFrames, CodeRange(), stacks, modules);
  modules->Refresh(writer);
  thread = capture->threads().Acquire();
  if (options.on_foreign_stack) {
    constexpr size_t kBytes = 8 << 20;
    getcontext(&away);
    away.uc_stack.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    away.uc_stack.ss_size = kBytes;
    away.uc_link = &home;
    makecontext(&away, Run, 0);
    swapcontext(&home, &away);
  } else {
    Run();
  }
  const auto count = [](CaptureCount which) { return static_cast<unsigned long long>(thread->count(which)); };
  std::sort(rounds.begin(), rounds.end());
  std::printf(
      "{\"depth\": %d, \"stacks\": %llu, \"ns_min\": %.1f, \"ns_median\": %.1f, \"first_guesses\": %llu, "
      "\"later_guesses\": %llu, \"walks\": %llu, \"foreign\": %llu, \"rules_learned\": %llu, \"record_bytes\": %zu}\n",
      options.depth, static_cast<unsigned long long>(options.stacks), rounds.front(), rounds[rounds.size() / 2],
      count(kFirstGuesses), count(kLaterGuesses), count(kWalks), count(kForeignWalks), count(kRulesLearned),
      capture->records().bytes());
  return 0;
}

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) { return vramtrack::Main(argc, argv); }
