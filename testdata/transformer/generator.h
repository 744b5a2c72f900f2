// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_GENERATOR_H_
#define TESTDATA_TRANSFORMER_GENERATOR_H_

#include <cstdint>
#include <vector>

#include "testdata/transformer/batch_loader.h"
#include "testdata/transformer/kv_cache.h"
#include "testdata/transformer/leak_plan.h"
#include "testdata/transformer/lru_cache.h"
#include "testdata/transformer/mixed_lifetimes.h"
#include "testdata/transformer/model.h"
#include "testdata/transformer/options.h"
#include "testdata/transformer/workspace.h"

namespace transformer {

// Serves generation requests. `plan` must outlive this object.
class Generator {
 public:
  // `scale` is passed to InitialParameters.
  Generator(const Options& options, LeakPlan* plan, float scale = 1.0f);

  // Serves one request. `step` counts from 1.
  void Step(uint64_t step);

  // Continues each sequence of the prompt greedily to `total` tokens, and returns the sequences [batch, total]. `cache`
  // must be empty and have room for them. `step` selects the planted leaks.
  DeviceBuffer<int32_t> Generate(const Batch& prompt, int total, uint64_t step, KvCache* cache);

  // Returns the tokens of the last request, prompt and answer.
  int tokens() const { return tokens_; }

  void PrintStep(uint64_t step) const;  // on stderr
  void PrintSummary() const;            // on stdout

 private:
  KvCache CacheFor(int session, int total);

  const Options options_;
  LeakPlan* const plan_;
  const ParameterLayout layout_;
  const Parameters parameters_;
  const Model model_;
  BatchLoader loader_;
  Workspace workspace_;
  LruCache<int, KvCache> sessions_;
  MixedLifetimes mixed_lifetimes_;

  uint64_t requests_ = 0;
  uint64_t all_tokens_ = 0;
  int tokens_ = 0;

  // Only the planted leaks use these.
  std::vector<KvCache> finished_;
  std::vector<DeviceBuffer<float>> attention_maps_;
  std::vector<Batch> seen_prompts_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_GENERATOR_H_
