// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/trainer.h"

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "testdata/transformer/sequence_length.h"

namespace transformer {
namespace {

constexpr size_t kCachedBatches = 8;
constexpr int kShards = 16;  // twice what the cache holds, so that it evicts

}  // namespace

Trainer::Trainer(const Options& options, LeakPlan* plan)
    : options_(options),
      plan_(plan),
      layout_(options.config),
      parameters_(layout_, InitialParameters(options.config, options.seed)),
      model_(options.config, layout_, parameters_),
      optimizer_(layout_, AdamOptions{}, options.control(Control::kLazyOptimizer)),
      loader_(plan),
      workspace_(plan),
      batch_cache_(kCachedBatches),
      mixed_lifetimes_(options.seed) {}

TRANSFORMER_NOINLINE Batch Trainer::NextBatch(uint64_t step) {
  const Config& config = options_.config;
  const int seq = SequenceLength(options_, step);
  return loader_.Upload(MakeHostBatch(config.batch, seq, config.vocab, options_.seed, step, /*padded=*/true));
}

TRANSFORMER_NOINLINE void Trainer::Step(uint64_t step) {
  plan_->BeginStep(step);
  const int shard = Random(options_.seed + step).Below(kShards);
  std::optional<Batch> cached;
  if (options_.control(Control::kBoundedCache)) cached = batch_cache_.Take(shard);
  Batch batch = cached ? std::move(*cached) : NextBatch(step);
  if (options_.control(Control::kFragmentation)) mixed_lifetimes_.Step(step);

  Loss loss = model_.Forward(batch);
  Gradients gradients(layout_);
  float* const scratch = workspace_.Reserve(ScratchCount(options_, step, model_.BackwardScratch(batch)));
  model_.Backward(batch, loss, scratch, &gradients);
  optimizer_.Step(gradients, &parameters_);
  loss_ = loss.value.ToHost()[0];
  if (steps_++ == 0) first_loss_ = loss_;
  tokens_ = batch.valid;

  if (plan_->Due(Leak::kAttentionCache)) {
    for (BlockActivations& block : loss.blocks) {
      plan_->Note(Leak::kAttentionCache, block.attention.weights);
      attention_maps_.push_back(std::move(block.attention.weights));
    }
  }
  if (plan_->Due(Leak::kLossGraph)) {
    plan_->Note(Leak::kLossGraph, loss);
    losses_.push_back(std::move(loss));
  }
  if (plan_->Due(Leak::kGradientBuffers)) {
    plan_->Note(Leak::kGradientBuffers, gradients);
    gradient_history_.push_back(std::move(gradients));
  }
  if (plan_->Due(Leak::kBatchReferences)) {
    plan_->Note(Leak::kBatchReferences, batch);
    seen_batches_.push_back(std::move(batch));
  } else if (options_.control(Control::kBoundedCache)) {
    batch_cache_.Put(shard, std::move(batch));
  }
}

void Trainer::PrintStep(uint64_t step) const {
  std::fprintf(stderr, "step %" PRIu64 ": loss %.4f, %d tokens\n", step, loss_, tokens_);
}

void Trainer::PrintSummary() const {
  std::printf("%" PRIu64 " steps, loss %.4f at first, %.4f at last\n", steps_, first_loss_, loss_);
}

}  // namespace transformer
