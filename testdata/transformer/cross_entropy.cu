// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/cross_entropy.h"

#include <cmath>

#include "testdata/transformer/launch.h"

namespace transformer {
namespace {

// log(sum(exp(x))), from the largest value on so that nothing overflows.
HOST_DEVICE inline float LogSumExp(const float* x, int count) {
  float largest = x[0];
  for (int i = 1; i < count; ++i) largest = x[i] > largest ? x[i] : largest;
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += expf(x[i] - largest);
  return largest + logf(sum);
}

struct RowLossKernel {
  const float* logits;
  const int32_t* targets;
  float* row_losses;
  int vocab;

  HOST_DEVICE void operator()(int64_t row) const {
    const int32_t target = targets[row];
    const float* x = logits + row * vocab;
    row_losses[row] = target < 0 ? 0.0f : LogSumExp(x, vocab) - x[target];
  }
};

struct MeanKernel {
  const float* row_losses;
  float* loss;
  int rows, valid;

  HOST_DEVICE void operator()(int64_t /*index*/) const {
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row) sum += row_losses[row];
    *loss = sum / static_cast<float>(valid);
  }
};

struct GradientKernel {
  const float* logits;
  const int32_t* targets;
  float* grad_logits;
  int vocab, valid;

  HOST_DEVICE void operator()(int64_t row) const {
    const int32_t target = targets[row];
    const float* x = logits + row * vocab;
    const float log_sum = LogSumExp(x, vocab);
    for (int i = 0; i < vocab; ++i) {
      const float probability = expf(x[i] - log_sum);
      const float gradient = (probability - (i == target ? 1.0f : 0.0f)) / static_cast<float>(valid);
      grad_logits[row * vocab + i] = target < 0 ? 0.0f : gradient;
    }
  }
};

}  // namespace

void CrossEntropyForward(const float* logits, const int32_t* targets, float* row_losses, float* loss, int rows,
                         int vocab, int valid) {
  Launch(rows, RowLossKernel{logits, targets, row_losses, vocab});
  Launch(1, MeanKernel{row_losses, loss, rows, valid});
}

void CrossEntropyBackward(const float* logits, const int32_t* targets, float* grad_logits, int rows, int vocab,
                          int valid) {
  Launch(rows, GradientKernel{logits, targets, grad_logits, vocab, valid});
}

}  // namespace transformer
