// SPDX-License-Identifier: Apache-2.0
//
// seeded_job SEED STEPS: a job of marked steps in which every site allocates and frees as the seed says, some of it on
// another thread. Leak() leaves 4,096 bytes behind in every eighth step.
#include <cuda_runtime_api.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "vramtrack/vramtrack.h"

namespace {

void* Allocate(size_t bytes) {
  void* pointer = nullptr;
  if (cudaMalloc(&pointer, bytes) != cudaSuccess) std::abort();
  return pointer;
}

__attribute__((noinline)) void* Activation(size_t bytes) { return Allocate(bytes); }
__attribute__((noinline)) void* Gradient(size_t bytes) { return Allocate(bytes); }
__attribute__((noinline)) void* CacheEntry(size_t bytes) { return Allocate(bytes); }
__attribute__((noinline)) void* Parameter(size_t bytes) { return Allocate(bytes); }
__attribute__((noinline)) void* Leak() { return Allocate(4096); }
__attribute__((noinline)) void* Message(size_t bytes) { return Allocate(bytes); }

__attribute__((noinline)) void FailingCall() {
  void* pointer = nullptr;
  cudaMalloc(&pointer, size_t{1} << 50);
  int on_host = 0;
  cudaFree(&on_host);
  cudaGetLastError();
}

// Frees what it is sent.
class Consumer {
 public:
  Consumer() : thread_([this] { Run(); }) {}
  ~Consumer() {
    Send(nullptr);
    thread_.join();
  }
  void Send(void* pointer) {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      queue_.push_back(pointer);
    }
    wake_.notify_one();
  }

 private:
  void Run() {
    for (;;) {
      std::unique_lock<std::mutex> hold(mutex_);
      wake_.wait(hold, [this] { return !queue_.empty(); });
      void* pointer = queue_.front();
      queue_.pop_front();
      hold.unlock();
      if (pointer == nullptr) return;
      cudaFree(pointer);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<void*> queue_;
  std::thread thread_;
};

}  // namespace

int main(int, char** argv) {
  std::mt19937_64 random(std::strtoull(argv[1], nullptr, 10));
  const uint64_t steps = std::strtoull(argv[2], nullptr, 10);
  for (int i = 0; i < 20; ++i) Parameter(1 << 16);
  std::vector<void*> cache(50, nullptr);
  std::deque<void*> gradients;
  Consumer consumer;
  for (uint64_t step = 0; step < steps; ++step) {
    std::vector<void*> activations;
    for (uint64_t i = 20 + random() % 20; i > 0; --i) activations.push_back(Activation(512 * (1 + random() % 8)));
    for (int i = 0; i < 5; ++i) gradients.push_back(Gradient(2048));
    void*& entry = cache[random() % cache.size()];
    if (random() % 3 == 0) {
      if (entry != nullptr) cudaFree(entry);
      entry = CacheEntry(1024 * (1 + random() % 4));
    }
    if (step % 8 == 3) consumer.Send(Message(768));
    if (step % 8 == 1) Leak();
    if (random() % 500 == 0) FailingCall();
    for (void* activation : activations) cudaFree(activation);
    while (gradients.size() > 15) {
      cudaFree(gradients.front());
      gradients.pop_front();
    }
    vramtrack_step(step, 0.5);
  }
  return 0;
}
