// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/generator.h"

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "testdata/transformer/launch.h"
#include "testdata/transformer/sequence_length.h"

namespace transformer {
namespace {

constexpr size_t kCachedSessions = 8;
constexpr int kSessions = 16;  // twice what the cache holds, so that it evicts

// Copies [batch, from_stride] to the front of [batch, to_stride].
struct WidenKernel {
  const int32_t* from;
  int32_t* to;
  int from_stride, to_stride;

  HOST_DEVICE void operator()(int64_t index) const {
    to[index / from_stride * to_stride + index % from_stride] = from[index];
  }
};

// Writes the likeliest token of each sequence to `position`. It stays on the device: what the host does next must not
// depend on it.
struct ArgMaxKernel {
  const float* logits;
  int32_t* tokens;
  int vocab, stride, position;

  HOST_DEVICE void operator()(int64_t b) const {
    int best = 0;
    for (int v = 1; v < vocab; ++v) {
      if (logits[b * vocab + v] > logits[b * vocab + best]) best = v;
    }
    tokens[b * stride + position] = best;
  }
};

}  // namespace

Generator::Generator(const Options& options, LeakPlan* plan, float scale)
    : options_(options),
      plan_(plan),
      layout_(options.config),
      parameters_(layout_, InitialParameters(options.config, options.seed, scale)),
      model_(options.config, layout_, parameters_),
      loader_(plan),
      workspace_(plan),
      sessions_(kCachedSessions),
      mixed_lifetimes_(options.seed) {}

TRANSFORMER_NOINLINE DeviceBuffer<int32_t> Generator::Generate(const Batch& prompt, int total, uint64_t step,
                                                               KvCache* cache) {
  DeviceBuffer<int32_t> tokens(static_cast<size_t>(prompt.batch) * total);
  tokens.Zero();
  Launch(prompt.rows(), WidenKernel{prompt.tokens.data(), tokens.data(), prompt.seq, total});

  std::vector<DeviceBuffer<float>> weights;
  float* const scratch = workspace_.Reserve(ScratchCount(options_, step, model_.ExtendScratch(prompt.seq)));
  for (int length = prompt.seq; length < total; ++length) {
    const bool first = length == prompt.seq;
    const DeviceBuffer<float> logits =
        first ? model_.Extend(tokens.data(), total, prompt.mask.data(), prompt.seq, scratch, cache, &weights)
              : model_.Extend(tokens.data(), total, nullptr, 1, scratch, cache, nullptr);
    Launch(prompt.batch, ArgMaxKernel{logits.data(), tokens.data(), options_.config.vocab, total, length});
  }
  if (plan_->Due(Leak::kAttentionCache)) {
    for (DeviceBuffer<float>& map : weights) {
      plan_->Note(Leak::kAttentionCache, map);
      attention_maps_.push_back(std::move(map));
    }
  }
  return tokens;
}

TRANSFORMER_NOINLINE KvCache Generator::CacheFor(int session, int total) {
  if (options_.control(Control::kBoundedCache)) {
    std::optional<KvCache> known = sessions_.Take(session);
    if (known && known->capacity() >= total) {
      known->Clear();
      return std::move(*known);
    }
  }
  return KvCache(options_.config, total);
}

TRANSFORMER_NOINLINE void Generator::Step(uint64_t step) {
  plan_->BeginStep(step);
  const Config& config = options_.config;
  const int total = SequenceLength(options_, step);
  const int prompt_length = total * 4 / 5;
  const int session = Random(options_.seed + step).Below(kSessions);
  if (options_.control(Control::kFragmentation)) mixed_lifetimes_.Step(step);

  Batch prompt =
      loader_.Upload(MakeHostBatch(config.batch, prompt_length, config.vocab, options_.seed, step, /*padded=*/false));
  KvCache cache = CacheFor(session, total);
  const std::vector<int32_t> answer = Generate(prompt, total, step, &cache).ToHost();
  tokens_ = static_cast<int>(answer.size());
  all_tokens_ += answer.size();
  ++requests_;

  if (plan_->Due(Leak::kKvCache)) {
    plan_->Note(Leak::kKvCache, cache);
    finished_.push_back(std::move(cache));
  } else if (options_.control(Control::kBoundedCache)) {
    sessions_.Put(session, std::move(cache));
  }
  if (plan_->Due(Leak::kBatchReferences)) {
    plan_->Note(Leak::kBatchReferences, prompt);
    seen_prompts_.push_back(std::move(prompt));
  }
}

void Generator::PrintStep(uint64_t step) const { std::fprintf(stderr, "step %" PRIu64 ": %d tokens\n", step, tokens_); }

void Generator::PrintSummary() const {
  std::printf("%" PRIu64 " requests, %" PRIu64 " tokens\n", requests_, all_tokens_);
}

}  // namespace transformer
