// SPDX-License-Identifier: Apache-2.0
#include "tests/frameworks/programs/torch_cpu.h"

#include <atomic>

namespace at {

uint64_t sequence_number::get_and_increment() {
  thread_local uint64_t next = 0;
  return next++;
}

uint64_t RecordFunction::currentThreadId() {
  static std::atomic<uint64_t> threads{0};
  thread_local uint64_t mine = ++threads;
  return mine;
}

}  // namespace at

namespace torch::autograd {

void Engine::evaluate_function(std::shared_ptr<GraphTask>&, Node*, InputBuffer& inputs,
                               const std::shared_ptr<ReadyQueue>&) {
  if (inputs.run) inputs.run();
}

}  // namespace torch::autograd
