// SPDX-License-Identifier: Apache-2.0
//
// Coroutines that call CUDA and yield in between, on stacks of the C library's making; stacks are given back and others
// appear at the same place; a coroutine moves from one thread to another.
#include <sys/mman.h>
#include <ucontext.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

namespace {

constexpr size_t kStackBytes = 64 << 10;

struct Coroutine {
  ucontext_t context, caller;
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int depth = 0;
  bool done = false;
  ~Coroutine() { munmap(stack, kStackBytes); }
};

thread_local Coroutine* current = nullptr;

void Yield() { swapcontext(&current->context, &current->caller); }

__attribute__((noinline)) void Nested(int depth) {
  if (depth > 0) {
    Nested(depth - 1);
  } else {
    for (int i = 0; i < 5; ++i) {
      void* pointer = Take(1024);
      Yield();
      Give(pointer);
    }
  }
  asm volatile("");
}

void Body() {
  Nested(current->depth);
  current->done = true;
  Yield();
}

std::unique_ptr<Coroutine> Start(int depth) {
  auto coroutine = std::make_unique<Coroutine>();
  coroutine->depth = depth;
  getcontext(&coroutine->context);
  coroutine->context.uc_stack.ss_sp = coroutine->stack;
  coroutine->context.uc_stack.ss_size = kStackBytes;
  coroutine->context.uc_link = nullptr;
  makecontext(&coroutine->context, Body, 0);
  return coroutine;
}

void Resume(Coroutine* coroutine) {
  current = coroutine;
  swapcontext(&coroutine->caller, &coroutine->context);
  current = nullptr;
}

}  // namespace

int main() {
  int finished = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<Coroutine>> coroutines;
    for (int i = 0; i < 8; ++i) coroutines.push_back(Start(i * 3));
    for (int turn = 0; turn < 6; ++turn) {
      for (auto& coroutine : coroutines) Resume(coroutine.get());
    }
    for (auto& coroutine : coroutines) finished += coroutine->done;
  }
  // Begun here, continued by a thread that lives no longer than that. No thread-local object is asked for in between.
  auto wanderer = Start(4);
  Resume(wanderer.get());
  for (int turn = 0; turn < 5; ++turn) {
    std::thread([&] { Resume(wanderer.get()); }).join();
  }
  std::printf("%d\n", finished + wanderer->done);
  return 0;
}
