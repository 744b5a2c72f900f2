// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_CHECK_H_
#define TESTDATA_TRANSFORMER_CHECK_H_

#include <cstdio>

namespace transformer {

// These functions compare the device's results for a tiny model with those of the reference model. Each prints one line
// on `out`, "ok NAME: ..." or "MISMATCH NAME: ...", and returns the number of wrong values. On a simulated device,
// whose kernels do nothing, all values are wrong.
int CheckForward(std::FILE* out);     // loss and logits
int CheckGradients(std::FILE* out);   // of every parameter, against finite differences of the reference's loss
int CheckAdam(std::FILE* out);        // parameters after some steps with given gradients
int CheckLearning(std::FILE* out);    // whether the loss falls
int CheckGeneration(std::FILE* out);  // logits of every token that is generated with a KV cache

// Run all checks for transformer_train and for transformer_generate. Return the sum of the mismatches.
int CheckTraining(std::FILE* out);
int CheckInference(std::FILE* out);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_CHECK_H_
