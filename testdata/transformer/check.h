// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_CHECK_H_
#define TESTDATA_TRANSFORMER_CHECK_H_

#include <cstdio>

namespace transformer {

// Comparisons of the device's results with those of the reference model, on a tiny model. Each prints one line on
// `out`, "ok NAME: ..." or "MISMATCH NAME: ...", and returns the number of values that are wrong. On a simulated
// device, whose kernels do nothing, everything is.
int CheckForward(std::FILE* out);     // loss and logits
int CheckGradients(std::FILE* out);   // every parameter's, with finite differences of the reference's loss
int CheckAdam(std::FILE* out);        // parameters after some steps with given gradients
int CheckLearning(std::FILE* out);    // that the loss falls
int CheckGeneration(std::FILE* out);  // logits of every token that is generated with a KV cache

// All that concerns transformer_train and transformer_generate; the sum of the mismatches.
int CheckTraining(std::FILE* out);
int CheckInference(std::FILE* out);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_CHECK_H_
