// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_SEQUENCE_LENGTH_H_
#define TESTDATA_TRANSFORMER_SEQUENCE_LENGTH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "testdata/transformer/options.h"
#include "testdata/transformer/random.h"

namespace transformer {

// The longest sequence of a step: --seq, or with the control variable-length anything from a quarter of it.
inline int SequenceLength(const Options& options, uint64_t step) {
  const int seq = options.config.seq;
  if (!options.control(Control::kVariableLength)) return seq;
  return Random(options.seed * 7919u + step).Between(std::max(2, seq / 4), seq);
}

// How much scratch memory a step asks for: `count`, or with the control reused-workspace up to twice as much, so that
// the workspace grows in some of the first steps.
inline size_t ScratchCount(const Options& options, uint64_t step, size_t count) {
  if (!options.control(Control::kReusedWorkspace)) return count;
  return count + count / 16 * static_cast<size_t>(Random(options.seed * 104729u + step).Below(17));
}

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_SEQUENCE_LENGTH_H_
