// SPDX-License-Identifier: Apache-2.0
//
// usage: libtorch_training STEPS [leaky]: trains with LibTorch; leaky keeps a view of every output.
#include <c10/core/CachingDeviceAllocator.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adamw.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int64_t kVocabulary = 1000, kWidth = 64, kBatch = 32;

struct Net : torch::nn::Module {
  torch::nn::Embedding embedding{kVocabulary, kWidth};
  torch::nn::Linear up{kWidth, 4 * kWidth}, head{4 * kWidth, kVocabulary};

  Net() {
    register_module("embedding", embedding);
    register_module("up", up);
    register_module("head", head);
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    torch::Tensor hidden = torch::relu(up(embedding(tokens)));
    return head(hidden);  // LEAK output
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int steps = std::atoi(argv[1]);
  const bool leaky = argc > 2 && std::string(argv[2]) == "leaky";
  const auto options = torch::TensorOptions(torch::kCUDA).dtype(torch::kLong);
  auto net = std::make_shared<Net>();
  net->to(torch::kCUDA);
  torch::optim::AdamW optimizer(net->parameters(), 1e-3);
  std::vector<torch::Tensor> kept;
  for (int step = 0; step < steps; step++) {
    torch::Tensor tokens = torch::randint(0, kVocabulary, {kBatch}, options);
    torch::Tensor output = net->forward(tokens);
    torch::Tensor loss = torch::nn::functional::cross_entropy(output, tokens);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (leaky) kept.push_back(output.detach()[0]);
  }
  const auto stats = at::getDeviceAllocator(at::kCUDA)->getDeviceStats(0);
  std::printf("blocks %ld %ld bytes %ld segments %ld\n", static_cast<long>(stats.allocation[0].allocated),
              static_cast<long>(stats.allocation[0].freed), static_cast<long>(stats.allocated_bytes[0].current),
              static_cast<long>(stats.num_device_alloc));
  if (leaky) std::printf("expect output %ld\n", static_cast<long>(kBatch * kVocabulary * 4 / 512 * 512));
}
