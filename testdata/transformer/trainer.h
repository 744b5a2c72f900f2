// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_TRAINER_H_
#define TESTDATA_TRANSFORMER_TRAINER_H_

#include <cstdint>
#include <vector>

#include "testdata/transformer/batch_loader.h"
#include "testdata/transformer/leak_plan.h"
#include "testdata/transformer/lru_cache.h"
#include "testdata/transformer/mixed_lifetimes.h"
#include "testdata/transformer/model.h"
#include "testdata/transformer/optimizer.h"
#include "testdata/transformer/options.h"
#include "testdata/transformer/workspace.h"

namespace transformer {

// Trains a model on the toy language. `plan` must outlive this object.
class Trainer {
 public:
  Trainer(const Options& options, LeakPlan* plan);

  // Trains with one batch: forward, backward, Adam. `step` counts from 1.
  void Step(uint64_t step);

  // Return the loss and the tokens of the last step.
  float loss() const { return loss_; }
  int tokens() const { return tokens_; }

  void PrintStep(uint64_t step) const;  // on stderr
  void PrintSummary() const;            // on stdout

 private:
  Batch NextBatch(uint64_t step);

  const Options options_;
  LeakPlan* const plan_;
  const ParameterLayout layout_;
  Parameters parameters_;
  const Model model_;
  Adam optimizer_;
  BatchLoader loader_;
  Workspace workspace_;
  LruCache<int, Batch> batch_cache_;
  MixedLifetimes mixed_lifetimes_;

  uint64_t steps_ = 0;
  float first_loss_ = 0.0f;
  float loss_ = 0.0f;
  int tokens_ = 0;

  // Only the planted leaks use these.
  std::vector<Loss> losses_;
  std::vector<DeviceBuffer<float>> attention_maps_;
  std::vector<Batch> seen_batches_;
  std::vector<Gradients> gradient_history_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_TRAINER_H_
