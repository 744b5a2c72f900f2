// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/batch.h"

#include "testdata/transformer/random.h"

namespace transformer {

HostBatch MakeHostBatch(int batch, int seq, int vocab, uint64_t seed, uint64_t step, bool padded) {
  Random random(seed * 1000003u + step);
  HostBatch host;
  host.batch = batch;
  host.seq = seq;
  for (int b = 0; b < batch; ++b) {
    const int length = padded && b > 0 ? random.Between((seq + 1) / 2, seq) : seq;
    int token = random.Below(vocab);
    for (int t = 0; t < seq; ++t) {
      const int next = (5 * token + 3) % vocab;
      host.tokens.push_back(t < length ? token : 0);
      host.targets.push_back(t < length ? next : -1);
      token = next;
    }
    for (int query = 0; query < seq; ++query) {
      for (int key = 0; key < seq; ++key) host.mask.push_back(key < length ? 0.0f : kMasked);
    }
    host.valid += length;
  }
  return host;
}

}  // namespace transformer
