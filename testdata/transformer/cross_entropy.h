// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_CROSS_ENTROPY_H_
#define TESTDATA_TRANSFORMER_CROSS_ENTROPY_H_

#include <cstdint>

namespace transformer {

// Computes row_losses [rows] = -log softmax(logits [rows, vocab])[target], or 0 if the target is negative, and loss [1]
// = their sum divided by `valid`, the number of targets that are not negative.
void CrossEntropyForward(const float* logits, const int32_t* targets, float* row_losses, float* loss, int rows,
                         int vocab, int valid);

// Sets grad_logits [rows, vocab] to the gradient of the loss.
void CrossEntropyBackward(const float* logits, const int32_t* targets, float* grad_logits, int rows, int vocab,
                          int valid);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_CROSS_ENTROPY_H_
