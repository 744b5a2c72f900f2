// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "testdata/transformer/check.h"
#include "testdata/transformer/comparison.h"
#include "testdata/transformer/reference.h"

namespace transformer {
namespace {

TEST(MathematicsTest, ForwardAgreesWithReference) { EXPECT_EQ(CheckForward(stdout), 0); }

TEST(MathematicsTest, GradientsAgreeWithFiniteDifferences) { EXPECT_EQ(CheckGradients(stdout), 0); }

TEST(MathematicsTest, AdamAgreesWithReference) { EXPECT_EQ(CheckAdam(stdout), 0); }

TEST(MathematicsTest, LossFallsInTraining) { EXPECT_EQ(CheckLearning(stdout), 0); }

TEST(MathematicsTest, GenerationWithCacheAgreesWithReference) { EXPECT_EQ(CheckGeneration(stdout), 0); }

// What the checks above lean on.
TEST(ComparisonTest, CountsWhatDiffersAndWhatIsNoNumber) {
  Comparison comparison("test", 1e-3, 1e-6);
  comparison.Expect(1.0005, 1.0, "close enough");
  comparison.Expect(1.002, 1.0, "off");
  comparison.Expect(std::nan(""), 1.0, "no number");
  comparison.ExpectAll({1.0f}, {1.0, 2.0}, "too short");
  EXPECT_EQ(comparison.Report(stdout), 3);
}

// By hand: two tokens, one layer of zeros, so that the logits are the normed embeddings times the head.
TEST(ReferenceTest, LogitsOfAModelWithoutLayersCanBeWorkedOutByHand) {
  Config config;
  config.layers = 0;
  config.dim = 2;
  config.heads = 1;
  config.vocab = 2;
  config.batch = 1;
  config.seq = 1;
  // The embedding (3, 1) has mean 2 and deviation 1; normed (1, -1); the head maps it to (1 - 2, -3 * -1).
  const ReferenceParameters parameters = {{0, 0, 2, 1}, {1, 0}, {1, 1}, {0, 0}, {1, 0, 2, -3}};
  HostBatch batch;
  batch.batch = batch.seq = batch.valid = 1;
  batch.tokens = {1};
  batch.targets = {0};
  batch.mask = {0};
  const ReferenceModel model(config, parameters);
  const std::vector<double> logits = model.Logits(batch);
  ASSERT_EQ(logits.size(), 2u);
  EXPECT_NEAR(logits[0], -1.0, 1e-4);
  EXPECT_NEAR(logits[1], 3.0, 1e-4);
  EXPECT_NEAR(model.Loss(batch), std::log(1.0 + std::exp(4.0)), 1e-4);
}

TEST(ReferenceTest, FirstStepOfAdamIsTheLearningRateAgainstTheSign) {
  std::vector<double> moment1 = {0, 0};
  std::vector<double> moment2 = {0, 0};
  std::vector<double> values = {1, 1};
  AdamOptions options;
  options.learning_rate = 0.5f;
  ReferenceAdam(options, 1, {4.0, -0.25}, &moment1, &moment2, &values);
  EXPECT_NEAR(values[0], 0.5, 1e-6);
  EXPECT_NEAR(values[1], 1.5, 1e-6);
}

}  // namespace
}  // namespace transformer
