// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_CONFIG_H_
#define TESTDATA_TRANSFORMER_CONFIG_H_

namespace transformer {

// The sizes of a decoder-only transformer. `seq` is the length of the longest sequence, in tokens; `dim` must be a
// multiple of `heads`.
struct Config {
  int layers = 3;
  int dim = 128;
  int heads = 4;
  int vocab = 512;
  int batch = 4;
  int seq = 64;

  int head_dim() const { return dim / heads; }
  int hidden_dim() const { return 4 * dim; }
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_CONFIG_H_
