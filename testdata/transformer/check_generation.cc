// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "testdata/transformer/batch_loader.h"
#include "testdata/transformer/check.h"
#include "testdata/transformer/comparison.h"
#include "testdata/transformer/generator.h"
#include "testdata/transformer/reference.h"

namespace transformer {
namespace {

constexpr uint64_t kSeed = 11;
constexpr float kScale = 10.0f;  // see check_training.cc
constexpr int kPrompt = 4;
constexpr int kTotal = 9;

Options TinyOptions() {
  Options options;
  options.seed = kSeed;
  options.config.layers = 2;
  options.config.dim = 8;
  options.config.heads = 2;
  options.config.vocab = 11;
  options.config.batch = 3;
  options.config.seq = kTotal;
  return options;
}

// The first `length` tokens of sequences that lie kTotal apart, as a batch of their own.
HostBatch Prefix(const std::vector<int32_t>& tokens, int batch, int length) {
  HostBatch prefix;
  prefix.batch = batch;
  prefix.seq = length;
  for (int b = 0; b < batch; ++b) {
    prefix.tokens.insert(prefix.tokens.end(), &tokens[b * kTotal], &tokens[b * kTotal] + length);
  }
  prefix.mask.assign(static_cast<size_t>(batch) * length * length, 0.0f);
  return prefix;
}

// The reference's answer: sequences, and for each generated token the logits [batch, vocab] that it was chosen from.
struct ReferenceAnswer {
  std::vector<int32_t> tokens;
  std::vector<std::vector<double>> logits;
};

ReferenceAnswer Answer(const Config& config, const ReferenceModel& model, const HostBatch& prompt) {
  ReferenceAnswer answer;
  answer.tokens.resize(static_cast<size_t>(config.batch) * kTotal);
  for (int b = 0; b < config.batch; ++b) {
    std::copy_n(&prompt.tokens[b * kPrompt], kPrompt, &answer.tokens[b * kTotal]);
  }
  for (int length = kPrompt; length < kTotal; ++length) {
    const std::vector<double> all = model.Logits(Prefix(answer.tokens, config.batch, length));
    std::vector<double> last;
    for (int b = 0; b < config.batch; ++b) {
      const auto row = all.begin() + (static_cast<long>(b) * length + length - 1) * config.vocab;
      last.insert(last.end(), row, row + config.vocab);
      answer.tokens[b * kTotal + length] = static_cast<int32_t>(std::max_element(row, row + config.vocab) - row);
    }
    answer.logits.push_back(last);
  }
  return answer;
}

}  // namespace

int CheckGeneration(std::FILE* out) {
  const Options options = TinyOptions();
  const Config& config = options.config;
  const ParameterLayout layout(config);
  const auto values = InitialParameters(config, kSeed, kScale);
  const ReferenceParameters reference = ToReference(values);
  const HostBatch prompt = MakeHostBatch(config.batch, kPrompt, config.vocab, kSeed, /*step=*/1, /*padded=*/false);
  const ReferenceAnswer expected = Answer(config, ReferenceModel(config, reference), prompt);
  Comparison comparison("generation", 1e-4, 1e-4);

  // The model is fed the reference's tokens, so that one wrong token does not spoil what follows.
  const Parameters parameters(layout, values);
  const Model model(config, layout, parameters);
  DeviceBuffer<int32_t> tokens(expected.tokens.size());
  tokens.CopyFrom(expected.tokens.data());
  DeviceBuffer<float> scratch(model.ExtendScratch(kPrompt));
  KvCache cache(config, kTotal);
  for (int length = kPrompt; length < kTotal; ++length) {
    const int count = length == kPrompt ? kPrompt : 1;
    const auto logits = model.Extend(tokens.data(), kTotal, nullptr, count, scratch.data(), &cache, nullptr).ToHost();
    comparison.ExpectAll(logits, expected.logits[length - kPrompt], "logits of token " + std::to_string(length));
  }

  // The generator feeds its own.
  LeakPlan no_leaks({}, 1, 1);
  Generator generator(options, &no_leaks, kScale);
  KvCache own_cache(config, kTotal);
  const auto answer =
      generator.Generate(BatchLoader(&no_leaks).Upload(prompt), kTotal, /*step=*/1, &own_cache).ToHost();
  comparison.ExpectAll({answer.begin(), answer.end()}, {expected.tokens.begin(), expected.tokens.end()}, "token");
  return comparison.Report(out);
}

int CheckInference(std::FILE* out) { return CheckForward(out) + CheckGeneration(out); }

}  // namespace transformer
