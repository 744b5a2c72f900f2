// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_EMBEDDING_H_
#define TESTDATA_TRANSFORMER_EMBEDDING_H_

#include <cstdint>

namespace transformer {

// Computes output [rows, dim] = token row + position row. Row r is token r % length of its sequence, and its position
// is past + r % length. Sequences of tokens begin `stride` tokens apart.
void EmbeddingForward(const int32_t* tokens, int stride, const float* token_table, const float* position_table,
                      float* output, int rows, int length, int past, int dim);

// Adds to the gradients of both tables, for contiguous sequences with `past` = 0.
void EmbeddingBackward(const int32_t* tokens, const float* grad_output, float* grad_token_table,
                       float* grad_position_table, int rows, int length, int vocab, int dim);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_EMBEDDING_H_
