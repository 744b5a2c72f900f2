// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_LINEAR_H_
#define TESTDATA_TRANSFORMER_LINEAR_H_

namespace transformer {

// Computes output [rows, out] = input [rows, in] * weight [in, out] + bias [out]. `bias` may be null. All pointers are
// device memory.
void LinearForward(const float* input, const float* weight, const float* bias, float* output, int rows, int in,
                   int out);

// Sets grad_input, and adds to grad_weight and grad_bias. `grad_bias` may be null.
void LinearBackward(const float* input, const float* weight, const float* grad_output, float* grad_input,
                    float* grad_weight, float* grad_bias, int rows, int in, int out);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_LINEAR_H_
