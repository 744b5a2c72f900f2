// SPDX-License-Identifier: Apache-2.0
//
// The line that the headline names, on stacks as jobs of real libraries have them.
#include "analyzer/findings/leaks/leak_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/attribution/blame.h"
#include "analyzer/attribution/python_file.h"

namespace vramtrack {
namespace {

using Stack = std::vector<ReportFrame>;

const std::string kPackages = "/env/lib/python3.11/site-packages/";

// A Python frame, as the symbolizer makes it.
ReportFrame At(const std::string& file, uint32_t line, const std::string& function) {
  ReportFrame frame;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  frame.language = Language::kPython;
  frame.installed = IsInstalledPython(file);
  if (IsPythonLibrary(file)) frame.origin = ReportFrame::Origin::kLibrary;
  return frame;
}
ReportFrame Of(const std::string& file, uint32_t line, const std::string& function) {
  return At(kPackages + file, line, function);
}
ReportFrame Native(const std::string& function) {
  ReportFrame frame;
  frame.function = function;
  frame.module = kPackages + "torch/lib/libtorch_cuda.so";
  frame.language = Language::kCpp;
  frame.installed = true;
  return frame;
}

Stack operator+(Stack inner, const Stack& outer) {
  inner.insert(inner.end(), outer.begin(), outer.end());
  return inner;
}

uint32_t BlamedLine(const Stack& leak, const std::vector<Stack>& clean) {
  BlameFinder blame;
  blame.AddLeak(leak);
  for (const Stack& stack : clean) {
    size_t next = 0;
    blame.AddClean([&]() { return next < stack.size() ? Stack{stack[next++]} : Stack(); });
  }
  return leak.at(blame.Blame(leak)).line;
}

// Hugging Face's Trainer, with a loss of the user's own.
const Stack kTrainer = {Of("transformers/trainer.py", 4020, "Trainer.training_step"),
                        Of("transformers/trainer.py", 2560, "Trainer._inner_training_loop"),
                        Of("transformers/trainer.py", 2240, "Trainer.train"), At("/job/train.py", 40, "main"),
                        At("/job/train.py", 44, "<module>")};
const Stack kEvaluate = {Of("transformers/trainer.py", 4740, "Trainer.prediction_step"),
                         Of("transformers/trainer.py", 4500, "Trainer.evaluation_loop"),
                         Of("transformers/trainer.py", 4300, "Trainer.evaluate"), At("/job/train.py", 41, "main"),
                         At("/job/train.py", 44, "<module>")};
const Stack kComputeLoss = {Of("transformers/models/gpt2/modeling_gpt2.py", 617, "GPT2Model.forward"),
                            Of("accelerate/utils/operations.py", 818, "ConvertOutputsToFp32.__call__"),
                            At("/job/train.py", 8, "MyTrainer.compute_loss")};

TEST(OwnLine, IsTheInnermostOfTheUsersOwnEvenWhereAnEvaluationGoesThroughItToo) {
  EXPECT_EQ(BlamedLine(kComputeLoss + kTrainer, {}), 8u);
  EXPECT_EQ(BlamedLine(kComputeLoss + kTrainer, {kComputeLoss + kEvaluate}), 8u);
  EXPECT_EQ(OwnFrame(kComputeLoss + kTrainer), 2u);
}

TEST(OwnLine, OfLightningIsTheStepOfTheUsersOwnModule) {
  const Stack leak = {Native("at::native::addmm"),
                      Of("torch/nn/modules/linear.py", 125, "Linear.forward"),
                      At("/job/model.py", 20, "Model.training_step"),
                      Of("lightning/pytorch/strategies/strategy.py", 391, "Strategy.training_step"),
                      Of("lightning/pytorch/trainer/call.py", 328, "_call_strategy_hook"),
                      Of("lightning/pytorch/trainer/trainer.py", 560, "Trainer.fit"),
                      At("/job/model.py", 50, "<module>")};
  EXPECT_EQ(BlamedLine(leak, {}), 20u);
}

TEST(OwnLine, DecoratorsAndContextManagersAreNoOnesOwn) {
  const Stack leak = {Native("at::native::copy"),
                      At("/job/loop.py", 12, "keep"),
                      Of("torch/utils/_contextlib.py", 116, "context_decorator.<locals>.decorate_context"),
                      At("/usr/lib/python3.11/functools.py", 900, "singledispatch.<locals>.wrapper"),
                      Of("accelerate/utils/memory.py", 174, "find_executable_batch_size.<locals>.decorator"),
                      At("/job/loop.py", 30, "train")};
  EXPECT_EQ(BlamedLine(leak, {}), 12u);
}

TEST(OwnLine, IsThatOfAComprehensionWhereItAllocates) {
  const Stack leak = {Native("at::native::empty"), At("/job/loop.py", 14, "train.<locals>.<listcomp>"),
                      At("/job/loop.py", 13, "train")};
  EXPECT_EQ(BlamedLine(leak, {}), 14u);
}

TEST(OwnLine, OfModulesThatAreRunByNameIsNotTheInterpretersStart) {
  const Stack leak = {Of("diffusers/models/unet.py", 900, "UNet.forward"), At("/job/pkg/serve.py", 7, "answer"),
                      At("/job/pkg/serve.py", 30, "<module>"), At("<frozen runpy>", 88, "_run_code"),
                      At("<frozen runpy>", 198, "_run_module_as_main")};
  EXPECT_EQ(BlamedLine(leak, {}), 7u);
  const Stack installed = {Of("vendor/serve.py", 7, "answer"), At("<frozen runpy>", 88, "_run_code")};
  EXPECT_EQ(OwnFrame(installed), std::nullopt) << "nobody's own";
  EXPECT_EQ(BlamedLine(installed, {}), 7u);
}

TEST(OwnLine, OfATestIsNotPytests) {
  const Stack leak = {Of("torch/_tensor.py", 700, "Tensor.clone"), At("/job/tests/test_model.py", 19, "test_fits"),
                      Of("_pytest/python.py", 159, "pytest_pyfunc_call"), Of("pluggy/_callers.py", 121, "_multicall")};
  EXPECT_EQ(BlamedLine(leak, {}), 19u);
}

TEST(OwnLine, OfANotebookIsTheCell) {
  const Stack leak = {Of("timm/models/vision_transformer.py", 600, "VisionTransformer.forward"),
                      At("/tmp/ipykernel_4711/1234567.py", 3, "<module>"),
                      Of("IPython/core/interactiveshell.py", 3550, "InteractiveShell.run_code"),
                      Of("ipykernel/kernelapp.py", 739, "IPKernelApp.start"),
                      Of("ipykernel_launcher.py", 18, "<module>")};
  EXPECT_EQ(BlamedLine(leak, {}), 3u);
}

TEST(OwnLine, StartersAreNotTheUsersOwn) {
  const ReportFrame torchrun = At("/env/bin/torchrun", 8, "<module>");
  EXPECT_TRUE(IsStarter(torchrun, Of("torch/distributed/run.py", 900, "main")));
  EXPECT_FALSE(IsStarter(torchrun, At("/job/run.py", 9, "main")));
  EXPECT_FALSE(IsStarter(At("/job/bin/train.py", 8, "<module>"), Of("lightning/fit.py", 9, "fit")));
  EXPECT_TRUE(
      IsStarter(At("<string>", 1, "<module>"), At("/usr/lib/python3.11/multiprocessing/spawn.py", 122, "spawn_main")));
}

TEST(OwnLine, AHelperThatManyLinesCallIsLeftForItsCaller) {
  const Stack leak = {At("/job/memory.py", 3, "buffer"), At("/job/train.py", 9, "cache"),
                      At("/job/train.py", 70, "main")};
  std::vector<Stack> clean;
  for (uint32_t line = 20; line < 23; ++line) {
    EXPECT_EQ(BlamedLine(leak, clean), 3u);
    clean.push_back(
        {At("/job/memory.py", 3, "buffer"), At("/job/train.py", line, "step"), At("/job/train.py", 71, "main")});
  }
  EXPECT_EQ(BlamedLine(leak, clean), 9u);
}

LeakMember Part(const Stack& frames, double rate) { return {&frames, rate, true}; }

TEST(LeakLine, ApartOfAHundredthDoesNotDecide) {
  const Stack logits = kComputeLoss + kTrainer;
  Stack loss = logits;
  loss[0].line = 640;
  const Stack of_the_trainer = kTrainer;
  const std::vector<LeakMember> members = {Part(logits, 90), Part(loss, 9), Part(of_the_trainer, 1)};
  for (const size_t leader : {0, 1, 2}) {
    const LeakLine found = FindLeakLine(members, leader, {});
    EXPECT_EQ(found.leader, leader == 2 ? 0 : leader) << "the trainer's own part is the last born";
    ASSERT_TRUE(found.line.has_value());
    EXPECT_EQ(members[found.leader].frames->at(*found.line).line, 8u);
  }
}

TEST(LeakLine, PartsAtSeveralLinesOfTheUsersFunctionDoNotLeadOutOfTheUsersCode) {
  const Stack outer = {Of("lightning/pytorch/trainer/trainer.py", 560, "Trainer.fit"), At("/job/model.py", 50, "main")};
  const Stack hidden = Stack{At("/job/model.py", 20, "Model.training_step")} + outer;
  const Stack loss = Stack{At("/job/model.py", 21, "Model.training_step")} + outer;
  const std::vector<LeakMember> members = {Part(hidden, 60), Part(loss, 40)};
  const LeakLine found = FindLeakLine(members, 1, {});
  EXPECT_EQ(found.leader, 1u);
  ASSERT_TRUE(found.line.has_value());
  EXPECT_EQ(loss[*found.line].line, 21u);
}

TEST(LeakLine, WhatAFunctionReturnsIsKeptByItsCallerAndWhatItKeepsItselfByALineOfItsOwn) {
  const Stack outer = {At("/job/train.py", 52, "train")};
  const Stack first = Stack{At("/job/net.py", 30, "Net.forward")} + outer;
  const Stack second = Stack{At("/job/net.py", 31, "Net.forward")} + outer;
  const std::vector<LeakMember> members = {Part(first, 60), Part(second, 40)};
  const LeakLine returned = FindLeakLine(members, 1, {Stack{At("/job/net.py", 29, "Net.forward")} + outer});
  ASSERT_TRUE(returned.line.has_value());
  EXPECT_EQ(second[*returned.line].line, 52u);
  const LeakLine kept = FindLeakLine(members, 1, {Stack{At("/job/net.py", 33, "Net.forward")} + outer});
  ASSERT_TRUE(kept.line.has_value());
  EXPECT_EQ(second[*kept.line].line, 31u);
}

// A GAN whose samples are kept: the critic's turn calls the generator too, and drops what it gets.
TEST(LeakLine, WhatAFunctionReturnsIsKeptByTheCallerThatDoesNotDropIt) {
  const Stack forward = {Of("torch/nn/modules/linear.py", 125, "Linear.forward"),
                         At("/job/gan.py", 17, "Generator.forward")};
  const Stack leak = forward + Stack{At("/job/gan.py", 35, "<module>")};
  const Stack dropped = forward + Stack{At("/job/gan.py", 29, "<module>")};
  EXPECT_EQ(KeepingCaller(leak, {}), std::nullopt);
  EXPECT_EQ(KeepingCaller(leak, {dropped}), 2u);
  const Stack further_down = {At("/job/gan.py", 18, "Generator.forward"), At("/job/gan.py", 35, "<module>")};
  EXPECT_EQ(KeepingCaller(leak, {dropped, further_down}), std::nullopt) << "it is kept within";
  EXPECT_EQ(KeepingCaller(kComputeLoss + kTrainer, {kComputeLoss + kEvaluate}), std::nullopt) << "called by a library";
}

// An evaluation that keeps the losses' graphs: training calls the same function, and drops what it gets.
TEST(LeakLine, WhatAllPartsOfALeakAreReturnedByIsKeptByTheCallerThatDoesNotDropIt) {
  const Stack loss_of = {Of("torch/nn/functional.py", 3561, "cross_entropy"), At("/job/train.py", 27, "loss_of")};
  const Stack logits_of = {Of("torch/nn/modules/linear.py", 125, "Linear.forward"), At("/job/train.py", 27, "loss_of")};
  const Stack evaluated = {At("/job/train.py", 41, "evaluate"), At("/job/train.py", 48, "<module>")};
  const Stack trained = {At("/job/train.py", 36, "train_step"), At("/job/train.py", 46, "<module>")};
  const Stack loss = loss_of + evaluated, logits = logits_of + evaluated;
  const std::vector<LeakMember> members = {Part(loss, 60), Part(logits, 40)};
  EXPECT_EQ(loss[*FindLeakLine(members, 0, {}).line].line, 27u);
  EXPECT_EQ(loss[*FindLeakLine(members, 0, {loss_of + trained}).line].line, 41u);
  const Stack later = Stack{At("/job/train.py", 28, "loss_of")} + evaluated;
  EXPECT_EQ(loss[*FindLeakLine(members, 0, {loss_of + trained, later}).line].line, 27u) << "it is kept within";
}

// An evaluation that keeps its accuracies, once for the training set and once for the validation set.
TEST(LeakLine, WhatAFunctionKeepsIsItsOwnThoughSeveralLinesCallIt) {
  const auto by = [](uint32_t line, uint32_t call) {
    return Stack{Of("torch/_tensor.py", 40, "wrapped"), At("/job/main.py", line, "test"),
                 At("/job/main.py", call, "train_iter"), At("/job/main.py", 369, "<module>")};
  };
  const Stack trained = by(285, 269), validated = by(285, 270);
  const std::vector<LeakMember> members = {{&trained, 512, false}, {&validated, 512, false}};
  const Stack freed = {At("/job/main.py", 266, "train_iter"), At("/job/main.py", 369, "<module>")};
  for (const size_t leader : {0, 1}) {
    const LeakLine found = FindLeakLine(members, leader, {freed});
    ASSERT_TRUE(found.line.has_value());
    EXPECT_EQ(members[found.leader].frames->at(*found.line).line, 285u);
  }
  const Stack temporary = Stack{At("/job/main.py", 286, "eq")} + by(285, 269);
  const LeakLine kept = FindLeakLine(members, 1, {freed, temporary});
  EXPECT_EQ(members[kept.leader].frames->at(*kept.line).line, 285u) << "the calls that leak drop something, too";
  const Stack dropped = by(285, 371);
  const LeakLine returned = FindLeakLine(members, 1, {freed, dropped});
  EXPECT_EQ(validated[*returned.line].line, 270u) << "another line drops what the function returns";
  // The graphs of the losses: most is allocated further within, by one line of the function.
  const Stack small = by(284, 270), other = by(284, 269);
  const auto layer = [&by](uint32_t line, uint32_t call) {
    Stack stack = by(281, call);
    stack[0] = At("/job/main.py", line, "Layer.forward");
    return stack;
  };
  const Stack a = layer(120, 269), b = layer(120, 270), c = layer(130, 269), d = layer(130, 270);
  const std::vector<LeakMember> graphs = {{&small, 1, false}, {&other, 1, false}, {&a, 60, false},
                                          {&b, 60, false},    {&c, 40, false},    {&d, 40, false}};
  const LeakLine found = FindLeakLine(graphs, 0, {freed});
  ASSERT_TRUE(found.line.has_value());
  EXPECT_EQ(graphs[found.leader].frames->at(*found.line).line, 281u);
}

TEST(LeakLine, AFunctionThatFreesSomethingLaterKeepsWhatLeaksItself) {
  const Stack leak = {Of("gpytorch/means/constant_mean.py", 113, "ConstantMean.forward"),
                      At("/job/rounds.py", 21, "next_candidate"), At("/job/rounds.py", 32, "<module>")};
  const Stack freed = {At("/job/rounds.py", 22, "next_candidate"), At("/job/rounds.py", 32, "<module>")};
  EXPECT_EQ(LineThatKeeps(leak, 2, {freed}), 1u);
  EXPECT_EQ(LineThatKeeps(leak, 2, {}), 2u) << "what it returns is kept by its caller";
  EXPECT_EQ(LineThatKeeps(leak, 1, {freed}), 1u) << "there is no line of the user's own further within";
}

TEST(LeakLine, OfNativeProgramsIsNotDecidedHere) {
  ReportFrame frame;
  frame.function = "Cache::Add";
  frame.module = "/job/train";
  frame.file = "cache.cc";
  frame.line = 7;
  const Stack stack = {frame};
  EXPECT_EQ(FindLeakLine({Part(stack, 1), Part(stack, 1)}, 0, {}).line, std::nullopt);
}

}  // namespace
}  // namespace vramtrack
