// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/attention.h"

#include "testdata/transformer/attention_kernels.h"
#include "testdata/transformer/linear.h"

namespace transformer {

Attention::Attention(const Config& config, const ParameterLayout& layout, const Parameters& parameters, int layer)
    : config_(config), layout_(layout), parameters_(parameters), layer_(layer) {}

TRANSFORMER_NOINLINE DeviceBuffer<float> Attention::Forward(const DeviceBuffer<float>& input, const Batch& batch,
                                                            AttentionActivations* saved) const {
  const int dim = config_.dim;
  const size_t rows = batch.rows();
  const AttentionShape shape = {batch.batch, config_.heads, batch.seq, /*past=*/0, config_.head_dim()};

  saved->qkv = DeviceBuffer<float>(rows * 3 * dim);
  LinearForward(input.data(), Value(kQkvWeight), Value(kQkvBias), saved->qkv.data(), rows, dim, 3 * dim);

  const int64_t row_stride = 3 * dim;
  const int64_t sequence_stride = row_stride * batch.seq;
  const HeadView query = {saved->qkv.data(), sequence_stride, row_stride};
  const HeadView key = {saved->qkv.data() + dim, sequence_stride, row_stride};
  const HeadView value = {saved->qkv.data() + 2 * dim, sequence_stride, row_stride};
  saved->weights = DeviceBuffer<float>(rows * config_.heads * batch.seq);
  Launch(rows * config_.heads, AttentionWeightsKernel{shape, query, key, batch.mask.data(), saved->weights.data()});

  saved->context = DeviceBuffer<float>(rows * dim);
  Launch(rows * dim, AttentionContextKernel{shape, value, saved->weights.data(), saved->context.data()});

  DeviceBuffer<float> output(rows * dim);
  LinearForward(saved->context.data(), Value(kProjectWeight), Value(kProjectBias), output.data(), rows, dim, dim);
  return output;
}

}  // namespace transformer
