// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "testdata/transformer/batch_loader.h"
#include "testdata/transformer/check.h"
#include "testdata/transformer/comparison.h"
#include "testdata/transformer/model.h"
#include "testdata/transformer/random.h"
#include "testdata/transformer/reference.h"
#include "testdata/transformer/trainer.h"

namespace transformer {
namespace {

constexpr uint64_t kSeed = 7;
// Start values ten times as large as usual: attention that is not uniform, logits that differ.
constexpr float kScale = 10.0f;

Config TinyConfig() {
  Config config;
  config.layers = 2;
  config.dim = 8;
  config.heads = 2;
  config.vocab = 11;
  config.batch = 3;
  config.seq = 6;
  return config;
}

HostBatch TinyBatch(const Config& config) {
  return MakeHostBatch(config.batch, config.seq, config.vocab, kSeed, /*step=*/1, /*padded=*/true);
}

Batch Upload(const HostBatch& host) {
  LeakPlan no_leaks({}, 1, 1);
  return BatchLoader(&no_leaks).Upload(host);
}

}  // namespace

int CheckForward(std::FILE* out) {
  const Config config = TinyConfig();
  const ParameterLayout layout(config);
  const auto values = InitialParameters(config, kSeed, kScale);
  const ReferenceParameters reference = ToReference(values);
  const ReferenceModel reference_model(config, reference);
  const HostBatch host = TinyBatch(config);

  const Parameters parameters(layout, values);
  const Loss loss = Model(config, layout, parameters).Forward(Upload(host));
  Comparison comparison("forward", 1e-4, 1e-4);
  comparison.Expect(loss.value.ToHost()[0], reference_model.Loss(host), "loss");
  comparison.ExpectAll(loss.logits.ToHost(), reference_model.Logits(host), "logits");
  return comparison.Report(out);
}

int CheckGradients(std::FILE* out) {
  const Config config = TinyConfig();
  const ParameterLayout layout(config);
  const auto values = InitialParameters(config, kSeed, kScale);
  const HostBatch host = TinyBatch(config);
  const Batch batch = Upload(host);
  const Parameters parameters(layout, values);
  const Model model(config, layout, parameters);
  const Loss loss = model.Forward(batch);
  Gradients gradients(layout);
  DeviceBuffer<float> scratch(model.BackwardScratch(batch));
  model.Backward(batch, loss, scratch.data(), &gradients);

  constexpr double kDelta = 1e-5;
  ReferenceParameters reference = ToReference(values);
  const ReferenceModel reference_model(config, reference);
  Comparison comparison("gradients", 1e-3, 2e-5);
  for (size_t p = 0; p < layout.size(); ++p) {
    const std::vector<float> gradient = gradients.buffer(p).ToHost();
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double value = reference[p][i];
      reference[p][i] = value + kDelta;
      const double above = reference_model.Loss(host);
      reference[p][i] = value - kDelta;
      const double below = reference_model.Loss(host);
      reference[p][i] = value;
      comparison.Expect(gradient[i], (above - below) / (2 * kDelta), "parameter " + std::to_string(p));
    }
  }
  return comparison.Report(out);
}

int CheckAdam(std::FILE* out) {
  const Config config = TinyConfig();
  const ParameterLayout layout(config);
  const AdamOptions options;
  const auto values = InitialParameters(config, kSeed, kScale);
  ReferenceParameters reference = ToReference(values);
  ReferenceParameters moment1;
  for (const std::vector<double>& value : reference) moment1.emplace_back(value.size(), 0.0);
  ReferenceParameters moment2 = moment1;

  Parameters parameters(layout, values);
  Adam adam(layout, options, /*lazy=*/true);
  Random random(kSeed);
  for (int step = 1; step <= 5; ++step) {
    Gradients gradients(layout);
    for (size_t p = 0; p < layout.size(); ++p) {
      std::vector<float> gradient(layout.count(p));
      for (float& g : gradient) g = static_cast<float>(random.Symmetric());
      gradients.buffer(p).CopyFrom(gradient.data());
      ReferenceAdam(options, step, {gradient.begin(), gradient.end()}, &moment1[p], &moment2[p], &reference[p]);
    }
    adam.Step(gradients, &parameters);
  }
  Comparison comparison("Adam", 1e-4, 1e-5);
  for (size_t p = 0; p < layout.size(); ++p) {
    comparison.ExpectAll(parameters.buffer(p).ToHost(), reference[p], "parameter " + std::to_string(p));
  }
  return comparison.Report(out);
}

int CheckLearning(std::FILE* out) {
  Options options;
  options.config = TinyConfig();
  options.config.dim = 16;
  options.config.batch = 8;
  LeakPlan no_leaks({}, 1, 1);
  Trainer trainer(options, &no_leaks);
  trainer.Step(1);
  const float first = trainer.loss();
  for (uint64_t step = 2; step <= 150; ++step) trainer.Step(step);
  // The next token follows from the last one alone, so that a working model leaves next to no loss; log(11) is 2.4.
  const bool learned = first > 2.0f && trainer.loss() < 0.2f;
  std::fprintf(out, "%s learning: loss %.4f at first, %.4f after 150 steps\n", learned ? "ok" : "MISMATCH", first,
               trainer.loss());
  return learned ? 0 : 1;
}

int CheckTraining(std::FILE* out) {
  return CheckForward(out) + CheckGradients(out) + CheckAdam(out) + CheckLearning(out);
}

}  // namespace transformer
