// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_BATCH_H_
#define TESTDATA_TRANSFORMER_BATCH_H_

#include <cstdint>
#include <vector>

#include "testdata/transformer/device_buffer.h"

namespace transformer {

// A batch in host memory: sequences of the toy language `next = (5 * token + 3) % vocab`, right-padded to a common
// length. tokens and targets are [batch, seq]; a missing target is -1. mask [batch, seq, seq] is added to the attention
// scores of (query, key); it is kMasked for a key that is padding, and 0 otherwise.
struct HostBatch {
  int batch = 0;
  int seq = 0;
  int valid = 0;  // number of targets that are not missing
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;
  std::vector<float> mask;
};

inline constexpr float kMasked = -1e9f;

// Returns the batch of a step, which is the same for the same arguments. With `padded`, all sequences except the first
// have random lengths.
HostBatch MakeHostBatch(int batch, int seq, int vocab, uint64_t seed, uint64_t step, bool padded);

// A batch in device memory.
struct Batch {
  int batch = 0;
  int seq = 0;
  int valid = 0;
  DeviceBuffer<int32_t> tokens;
  DeviceBuffer<int32_t> targets;
  DeviceBuffer<float> mask;

  int rows() const { return batch * seq; }

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    tokens.VisitBuffers(visit);
    targets.VisitBuffers(visit);
    mask.VisitBuffers(visit);
  }
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_BATCH_H_
