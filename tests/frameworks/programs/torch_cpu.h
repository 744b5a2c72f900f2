// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for libtorch_cpu: the functions of the autograd graph under PyTorch's names, and what they need.
#ifndef TESTS_FRAMEWORKS_PROGRAMS_TORCH_CPU_H_
#define TESTS_FRAMEWORKS_PROGRAMS_TORCH_CPU_H_

#include <cstdint>
#include <functional>
#include <memory>

namespace at {
namespace sequence_number {
uint64_t get_and_increment();
}
struct RecordFunction {
  static uint64_t currentThreadId();
};
}  // namespace at

namespace torch::autograd {

// As PyTorch 2.15 lays it out, and as long as its smallest node.
struct Node {
  virtual ~Node() = default;
  uint64_t references = 1;
  uint64_t number;
  uint64_t height = 0;
  bool has_parent = true;
  uint64_t thread = at::RecordFunction::currentThreadId();
  uint64_t rest[26] = {};

  explicit Node(uint64_t number) : number(number) {}
};

struct InputBuffer {
  std::function<void()> run;
};
struct GraphTask {};
struct ReadyQueue {};

struct Engine {
  void evaluate_function(std::shared_ptr<GraphTask>& task, Node* node, InputBuffer& inputs,
                         const std::shared_ptr<ReadyQueue>& queue);
};

}  // namespace torch::autograd

#endif  // TESTS_FRAMEWORKS_PROGRAMS_TORCH_CPU_H_
