// SPDX-License-Identifier: Apache-2.0
//
// Runs out of stack again and again, wherever it happens to be, CUDA calls included. The handler, on an alternate
// stack, leaves by longjmp; afterwards everything works.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include <thread>

#include "tests/hazards/programs/device.h"

namespace {

sigjmp_buf recovery;

void OnOverflow(int) { siglongjmp(recovery, 1); }

constexpr size_t kStackBytes = 1 << 20;
constexpr size_t kCallsBegin = kStackBytes - (96 << 10);  // bytes used by then

const char* top;

__attribute__((noinline)) int Endless(int depth, int step) {
  volatile char frame[256];
  frame[0] = static_cast<char>(depth);
  if (static_cast<size_t>(top - const_cast<char*>(frame)) > kCallsBegin && depth % step == 0) Give(Take(512));
  return Endless(depth + 1, step) + frame[0];
}

void* Overflow(void*) {
  char here;
  top = &here;
  alignas(64) static char alternate[1 << 16];
  stack_t stack = {};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  sigaltstack(&stack, nullptr);
  volatile int recovered = 0;
  for (volatile int round = 0; round < 60; round = round + 1) {
    if (sigsetjmp(recovery, 1) == 0) {
      Endless(0, 1 + round % 3);
    } else {
      recovered = recovered + 1;
    }
    Pairs(1);
  }
  std::printf("%d\n", recovered);
  return nullptr;
}

}  // namespace

int main() {
  struct sigaction action = {};
  action.sa_handler = OnOverflow;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, Overflow, nullptr) != 0) return 1;
  pthread_join(thread, nullptr);
  // Others find no lock taken that nobody will give back.
  std::thread([] { Pairs(1000); }).join();
  Pairs(1000);
  std::puts("done");
  return 0;
}
