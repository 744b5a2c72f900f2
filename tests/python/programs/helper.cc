// SPDX-License-Identifier: Apache-2.0
//
// What Python programs cannot do themselves.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <cstddef>
#include <thread>
#include <vector>

namespace {

int (*cuda_malloc)(void**, size_t);
int (*cuda_free)(void*);

void Allocate(size_t size) {
  void* block = nullptr;
  if (cuda_malloc(&block, size) == 0) cuda_free(block);
}

size_t handler_size;
long handler_us;

void ArmTimer() {
  const itimerval timer = {{0, 0}, {0, handler_us}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// Armed again when it is done: a timer that goes on by itself would leave the program no time at all where the handler
// takes longer than its interval.
void OnAlarm(int) {
  Allocate(handler_size);
  if (handler_us > 0) ArmTimer();
}

}  // namespace

extern "C" {

void use(int (*malloc)(void**, size_t), int (*free)(void*)) {
  cuda_malloc = malloc;
  cuda_free = free;
}

// On threads that never enter Python.
void allocate_on_threads(int count, size_t size) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(Allocate, size);
  for (std::thread& thread : threads) thread.join();
}

// On a thread that the interpreter knows, and that runs no Python code.
void allocate_on_known_thread(int (*ensure)(), void (*release)(int), void* (*save)(), void (*restore)(void*),
                              size_t size) {
  std::thread([=] {
    const int state = ensure();
    void* thread = save();
    Allocate(size);
    restore(thread);
    release(state);
  }).join();
}

// Threads that go on for ever.
void allocate_for_ever(int count, size_t size) {
  for (int i = 0; i < count; ++i) {
    std::thread([size] {
      while (true) Allocate(size);
    }).detach();
  }
}

// `us` microseconds after each time it was done, from now on, whatever the thread is at; 0: no more.
void allocate_in_handler(long us, size_t size) {
  handler_size = size;
  handler_us = us;
  struct sigaction action = {};
  action.sa_handler = OnAlarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  ArmTimer();
}
}
