// SPDX-License-Identifier: Apache-2.0
//
// Evaluates nodes of a graph and leaves them in every way there is. What it allocates in between says by its size where
// that was: the number of the case, and in the last digit 0 for no node, 1 for one with a number, 2 for one without.
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <setjmp.h>

#include <cstdio>
#include <deque>
#include <stdexcept>
#include <thread>

#include "tests/frameworks/programs/torch_cpu.h"

namespace {

using torch::autograd::Node;

void Allocate(size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) != cudaSuccess) std::printf("no memory\n");
}

std::deque<Node> nodes;
Node* Function() { return &nodes.emplace_back(at::sequence_number::get_and_increment()); }
Node* Accumulator() { return &nodes.emplace_back(~uint64_t{0}); }

void Evaluate(Node* node, std::function<void()> run) {
  std::shared_ptr<torch::autograd::GraphTask> task;
  torch::autograd::InputBuffer inputs{std::move(run)};
  torch::autograd::Engine().evaluate_function(task, node, inputs, nullptr);
}

void Nothing() {}

jmp_buf outside;

void* EndHere(void*) {
  Evaluate(Function(), [] {
    Allocate(10061);
    pthread_exit(nullptr);
  });
  return nullptr;
}

}  // namespace

int main() {
  Allocate(10000);
  for (int i = 0; i < 60; ++i) Evaluate(i % 4 == 0 ? Accumulator() : Function(), Nothing);
  Allocate(10010);
  Evaluate(Function(), [] { Allocate(10011); });
  Evaluate(Accumulator(), [] { Allocate(10012); });
  Evaluate(Function(), [] {
    Evaluate(Accumulator(), [] { Allocate(10022); });
    Allocate(10021);
  });
  Allocate(10020);

  // Caught between two nodes, and outside of all.
  Evaluate(Function(), [] {
    try {
      Evaluate(Accumulator(), [] { throw std::runtime_error("inner"); });
    } catch (const std::runtime_error& error) {
      std::printf("%s\n", error.what());
    }
    Allocate(10031);
  });
  try {
    Evaluate(Function(), [] { Evaluate(Accumulator(), [] { throw std::runtime_error("outer"); }); });
  } catch (const std::runtime_error& error) {
    std::printf("%s\n", error.what());
  }
  Allocate(10030);

  // Noticed when the next node begins, at the latest.
  if (setjmp(outside) == 0) {
    Evaluate(Function(), [] { longjmp(outside, 1); });
  }
  Evaluate(Accumulator(), [] { Allocate(10042); });
  Allocate(10050);

  pthread_t thread;
  if (pthread_create(&thread, nullptr, EndHere, nullptr) == 0) pthread_join(thread, nullptr);
  // Made here, evaluated elsewhere.
  Node* mine = Function();
  std::thread([mine] { Evaluate(mine, [] { Allocate(10071); }); }).join();
  Allocate(10070);
  std::printf("done\n");
}
