// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_BATCH_H_
#define TESTDATA_TRANSFORMER_BATCH_H_

#include <cstdint>
#include <vector>

#include "testdata/transformer/device_buffer.h"

namespace transformer {

// Sequences of the toy language `next = (5 * token + 3) % vocab`, right-padded to a common length. tokens and targets
// are [batch, seq], a target is -1 where there is none; mask [batch, seq, seq] is added to the attention scores of
// (query, key): 0, or kMasked for a key that is padding.
struct HostBatch {
  int batch = 0;
  int seq = 0;
  int valid = 0;  // targets that count
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;
  std::vector<float> mask;
};

inline constexpr float kMasked = -1e9f;

// The batch of a step: the same for the same arguments. With `padded`, sequences after the first are of random lengths.
HostBatch MakeHostBatch(int batch, int seq, int vocab, uint64_t seed, uint64_t step, bool padded);

// The same on the device.
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
