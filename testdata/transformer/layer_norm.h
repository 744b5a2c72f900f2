// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_LAYER_NORM_H_
#define TESTDATA_TRANSFORMER_LAYER_NORM_H_

namespace transformer {

inline constexpr float kNormEpsilon = 1e-5f;

// Computes output = (input - mean) / deviation * gamma + beta for each row. Sets statistics [rows, 2] to the mean and
// 1 / deviation.
void LayerNormForward(const float* input, const float* gamma, const float* beta, float* output, float* statistics,
                      int rows, int dim);

// Adds to grad_input, grad_gamma and grad_beta.
void LayerNormBackward(const float* input, const float* gamma, const float* statistics, const float* grad_output,
                       float* grad_input, float* grad_gamma, float* grad_beta, int rows, int dim);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_LAYER_NORM_H_
