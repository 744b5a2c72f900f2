// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/attribution/python_file.h"

namespace vramtrack {
namespace {

const char kTorch[] = "/env/lib/python3.11/site-packages/torch/";

ReportFrame Python(const std::string& function, const std::string& file) {
  ReportFrame frame;
  frame.function = function;
  frame.file = file;
  frame.language = Language::kPython;
  return frame;
}

ReportFrame Torch(const std::string& function, const std::string& file) { return Python(function, kTorch + file); }

ReportFrame Native(const std::string& function) {
  ReportFrame frame;
  frame.function = function;
  frame.language = Language::kCpp;
  return frame;
}

constexpr SiteLifetime kShort = {}, kKept = {true, false}, kAcross = {false, true}, kNoSteps = {false, false, false};

std::string Category(const std::vector<ReportFrame>& frames, SiteLifetime lifetime,
                     schema::GraphNode node = schema::NODE_NONE) {
  return CategoryName(PurposeOf(TraitsOf(frames, node), lifetime, /*host=*/false).category);
}

TEST(Category, IsWhatStackAndLifetimeTell) {
  const ReportFrame job = Python("step", "/job/train.py"), empty = Native("at::native::empty_cuda(int)");
  const ReportFrame init_group = Torch("Adam._init_group", "optim/adam.py"), step = Torch("Adam.step", "optim/adam.py");
  EXPECT_EQ(Category({empty, init_group, step, job}, kKept), "optimizer_state");
  EXPECT_EQ(Category({empty, Torch("_multi_tensor_adam", "optim/adam.py"), step, job}, kShort), "temporary");
  EXPECT_EQ(Category({empty, Torch("Linear.__init__", "nn/modules/linear.py"), job}, kKept), "parameters");
  EXPECT_EQ(Category({empty, Torch("Module._apply", "nn/modules/module.py"), job}, kKept), "parameters");
  EXPECT_EQ(Category({empty, Torch("Linear.forward", "nn/modules/linear.py"), job}, kShort), "activations");
  EXPECT_EQ(Category({empty, job}, kShort), "temporary");
  EXPECT_EQ(Category({empty, job}, kNoSteps), "unknown") << "it may have lived for hours";
  EXPECT_EQ(Category({empty, job}, kKept), "unknown");
  EXPECT_EQ(Category({empty, job}, kAcross), "unknown");
  EXPECT_EQ(Category({}, kKept), "unknown");
  EXPECT_EQ(Category({Native("at::cuda::allocateCUDABlasWorkspace(unsigned long)"), job}, kKept), "workspace");
  EXPECT_EQ(Category({Native("ncclCommInitRankConfig"), job}, kKept), "communication");
  EXPECT_EQ(Category({empty, Native("c10d::Reducer::Reducer(int)")}, kKept), "communication");
  EXPECT_EQ(Category({empty, Torch("DataLoader.__iter__", "utils/data/dataloader.py"), job}, kShort), "input");
}

TEST(Category, TheBackwardPassMakesGradientsAndTemporaries) {
  const ReportFrame node = Native("torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)");
  EXPECT_EQ(Category({node}, kShort), "temporary");
  EXPECT_EQ(Category({node}, kAcross), "gradients");
  EXPECT_EQ(Category({Native("at::native::add(int)")}, kShort, schema::NODE_ACCUMULATE), "gradients");
  // The forward call that made the node says nothing of what is allocated now.
  ReportFrame forward = Torch("Module._apply", "nn/modules/module.py");
  forward.forward = true;
  EXPECT_EQ(Category({Native("at::native::mm(int)"), forward}, kShort, schema::NODE_FUNCTION), "temporary");
}

TEST(Category, ThePhasesThatItLivesThroughTellWhatNoStackDoes) {
  const ReportFrame job = Python("step", "/job/train.py");
  SiteLifetime into_backward;
  into_backward.into_backward = true;
  EXPECT_EQ(Category({job}, into_backward), "activations") << "a loss that the job computes itself";
  into_backward.across_steps = true;
  EXPECT_EQ(Category({job}, into_backward), "activations") << "held by a variable until the next step";
  into_backward.kept = true;
  EXPECT_EQ(Category({job}, into_backward), "unknown") << "a leak";
  SiteLifetime into_optimizer;
  into_optimizer.into_optimizer = true;
  EXPECT_EQ(Category({job}, into_optimizer, schema::NODE_FUNCTION), "gradients") << "dropped before the step ends";
  EXPECT_EQ(Category({job}, into_optimizer), "temporary");
  SiteLifetime as_parameters = kKept;
  as_parameters.as_parameters = true;
  EXPECT_EQ(Category({job}, as_parameters), "optimizer_state") << "of an optimizer that nobody knows";
  const Purpose adam = PurposeOf(TraitsOf({Torch("Adam.step", "optim/adam.py"), job}, schema::NODE_NONE), as_parameters,
                                 /*host=*/false);
  EXPECT_EQ(adam.evidence, PurposeEvidence::kSize);
}

TEST(Category, HostMemoryIsInputOrJustPinned) {
  const StackTraits pin = TraitsOf({Torch("pin_memory", "utils/data/_utils/pin_memory.py")}, schema::NODE_NONE);
  EXPECT_EQ(PurposeOf(pin, kShort, /*host=*/true).category, Category::kInput);
  EXPECT_EQ(PurposeOf({}, kKept, /*host=*/true).category, Category::kPinned);
}

TEST(OptimizerFrame, IsAStepOfWhatTakesSteps) {
  EXPECT_TRUE(IsOptimizerFrame("/x/torch/optim/sgd.py", "step"));
  EXPECT_TRUE(IsOptimizerFrame("/x/torch/optim/optimizer.py", "wrapper"));
  EXPECT_TRUE(IsOptimizerFrame("/x/transformers/optimization.py", "step"));
  EXPECT_FALSE(IsOptimizerFrame("/x/torch/optim/sgd.py", "zero_grad"));
  EXPECT_FALSE(IsOptimizerFrame("/job/mytorch/optim.py", "step"));
  EXPECT_FALSE(IsOptimizerFrame("/job/train.py", "step"));
}

}  // namespace
}  // namespace vramtrack
