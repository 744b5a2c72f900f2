// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_SEQUENCE_LENGTH_H_
#define TESTDATA_TRANSFORMER_SEQUENCE_LENGTH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "testdata/transformer/options.h"
#include "testdata/transformer/random.h"

namespace transformer {

// Returns the longest sequence of a step: --seq, or with the control variable-length a random length from a quarter of
// --seq up to --seq.
inline int SequenceLength(const Options& options, uint64_t step) {
  const int seq = options.config.seq;
  if (!options.control(Control::kVariableLength)) return seq;
  return Random(options.seed * 7919u + step).Between(std::max(2, seq / 4), seq);
}

// Returns how many values of scratch memory a step requests: `count`, or with the control reused-workspace up to twice
// as many, so that the workspace grows in some of the first steps.
inline size_t ScratchCount(const Options& options, uint64_t step, size_t count) {
  if (!options.control(Control::kReusedWorkspace)) return count;
  return count + count / 16 * static_cast<size_t>(Random(options.seed * 104729u + step).Below(17));
}

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_SEQUENCE_LENGTH_H_
