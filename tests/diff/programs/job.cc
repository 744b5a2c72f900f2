// SPDX-License-Identifier: Apache-2.0
//
// A small training job: parameters and two moments made once, then steps of two blocks of attention and MLP.
#include <cstdint>

#include "layers.h"

extern "C" void vramtrack_step(uint64_t number, double value) __attribute__((weak));

struct Block {
  Attention attention;
  Mlp mlp;

  void Forward(Buffers* saved) {
    attention.Forward(saved);  // @block_attention
    mlp.Forward(saved);        // @block_mlp
  }
};

struct Model {
  Block first, second;

  void Forward(Buffers* saved) {
    const Buffer embedded(2 * kMiB);  // @embedded
    first.Forward(saved);             // @first
    second.Forward(saved);            // @second
    const Buffer logits(10 * kMiB);   // @logits
  }
};

struct Optimizer {
  Buffers state;

  void Prepare() {
    state.push_back(std::make_unique<Buffer>(16 * kMiB));  // @exp_avg
    state.push_back(std::make_unique<Buffer>(16 * kMiB));  // @exp_avg_sq
  }
  void Step() {
    const Buffer update(3 * kMiB);  // @update
    const Buffer norm(kMiB);        // @norm
  }
};

void Backward(Buffers* saved) {
  while (!saved->empty()) {
    const Buffer gradient(kMiB);  // @gradient
    saved->pop_back();
  }
}

void TrainStep(Model* model, Optimizer* optimizer) {
  Buffers saved;
  model->Forward(&saved);
  Backward(&saved);
  optimizer->Step();
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 60;
  const Buffer parameters(24 * kMiB);  // @parameters
  Model model;
  Optimizer optimizer;
  optimizer.Prepare();
  for (int step = 0; step < steps; ++step) {
    TrainStep(&model, &optimizer);
    if (vramtrack_step) vramtrack_step(static_cast<uint64_t>(step), 0);
  }
}
