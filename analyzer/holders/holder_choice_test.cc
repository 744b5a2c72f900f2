// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/holder_choice.h"

#include <gtest/gtest.h>

#include "analyzer/holders/testing/sample_walks.h"

namespace vramtrack {
namespace {

TEST(HolderChoice, AListBeatsTheLocalThatHoldsItsLastEntry) {
  SampleWalk walk;
  const uint32_t history = walk.Global("history", "list", 100);
  const uint32_t entry = walk.builder.Path(history, schema::HOLDER_ENTRY, "", "dict", 2, 100);
  const uint32_t loss = walk.builder.Path(entry, schema::HOLDER_KEY, "loss", "Tensor");
  // The local is fewer steps away.
  const uint32_t local = walk.Local(walk.Frame("main"), "loss", "Tensor");
  for (int i = 0; i < 99; ++i) walk.Block(walk.Saved(loss), 100);
  walk.Block(walk.Saved(local), 100);
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(PathText(chosen[0].steps), "__main__.history[*]['loss'].grad_fn → saved by AddmmBackward0");
  EXPECT_EQ(HolderText(chosen[0]), "__main__.history");
  EXPECT_TRUE(chosen[0].entries);
  EXPECT_EQ(chosen[0].steps[chosen[0].holder].type, "list");
  EXPECT_EQ(chosen[0].steps[chosen[0].holder].entries, 100u);
  EXPECT_EQ(chosen[0].bytes, 9900u);
  EXPECT_EQ(chosen[0].objects, 99u);
  EXPECT_EQ(HolderText(chosen[1]), "main(): loss");
  EXPECT_EQ(chosen[1].bytes, 100u);
}

TEST(HolderChoice, AGlobalBeatsAModuleWithMoreInAll) {
  SampleWalk walk;
  walk.Block(walk.Global("a", "Tensor"), 30);
  walk.Block(walk.Global("b", "Tensor"), 30);
  walk.Block(walk.Local(walk.Frame("main"), "x", "Tensor"), 40);
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_EQ(HolderText(chosen[0]), "main(): x");
  EXPECT_EQ(chosen[0].bytes, 40u);
}

TEST(HolderChoice, NumberedEntriesAreOneHolder) {
  SampleWalk walk;
  const uint32_t kept = walk.Global("kept", "list", 8);
  for (int i = 0; i < 8; ++i) {
    walk.Block(walk.builder.Path(kept, schema::HOLDER_INDEX, std::to_string(i), "Tensor"), 100);
  }
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(PathText(chosen[0].steps), "__main__.kept[*]");
  EXPECT_EQ(HolderText(chosen[0]), "__main__.kept");
  EXPECT_TRUE(chosen[0].entries);
  EXPECT_EQ(chosen[0].bytes, 800u);
  EXPECT_EQ(chosen[0].steps.back().type, "Tensor");
}

TEST(HolderChoice, TwoNumberedEntriesAreHeldByTheirList) {
  SampleWalk walk;
  const uint32_t pair = walk.Global("pair", "list", 3);
  for (int i = 0; i < 3; ++i) {
    walk.Block(walk.builder.Path(pair, schema::HOLDER_INDEX, std::to_string(i), "Tensor"), 100);
  }
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(PathText(chosen[0].steps), "__main__.pair");
  EXPECT_EQ(chosen[0].bytes, 300u);
}

TEST(HolderChoice, OfASmallContainerTheLargeOneInsideHolds) {
  SampleWalk walk;
  const uint32_t callbacks = walk.Global("callbacks", "list", 1);
  const uint32_t callback = walk.builder.Path(callbacks, schema::HOLDER_ENTRY, "", "History");
  const uint32_t history = walk.builder.Path(callback, schema::HOLDER_ATTRIBUTE, "history", "list", 60);
  walk.Block(walk.builder.Path(history, schema::HOLDER_ENTRY, "", "Tensor", 0, 60), 100);
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(HolderText(chosen[0]), "__main__.callbacks[*].history");
  EXPECT_TRUE(chosen[0].entries);
  EXPECT_EQ(chosen[0].steps[chosen[0].holder].entries, 60u);
}

TEST(HolderChoice, ASmallContainerHoldsIfNoneIsInside) {
  SampleWalk walk;
  const uint32_t last = walk.Global("last", "list", 2);
  const uint32_t entry = walk.builder.Path(last, schema::HOLDER_ENTRY, "", "Output", 0, 2);
  walk.Block(walk.builder.Path(entry, schema::HOLDER_ATTRIBUTE, "features", "Tensor"), 100);
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(HolderText(chosen[0]), "__main__.last");
  EXPECT_EQ(PathText(chosen[0].steps), "__main__.last[*].features");
  EXPECT_TRUE(chosen[0].entries);
  EXPECT_EQ(chosen[0].holder_bytes, 100u);
}

// As the optimizers of a few layers that each have their own.
TEST(HolderChoice, OfSmallContainersInsideOneAnotherTheFirstHolds) {
  SampleWalk walk;
  const uint32_t layers = walk.Global("layers", "list", 2);
  const uint32_t layer = walk.builder.Path(layers, schema::HOLDER_ENTRY, "", "Layer", 0, 2);
  const uint32_t state = walk.builder.Path(layer, schema::HOLDER_ATTRIBUTE, "state", "dict", 2);
  const uint32_t parameter = walk.builder.Path(state, schema::HOLDER_ENTRY, "", "dict", 3, 2);
  walk.Block(walk.builder.Path(parameter, schema::HOLDER_KEY, "exp_avg", "Tensor"), 100);
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(HolderText(chosen[0]), "__main__.layers");
  EXPECT_EQ(PathText(chosen[0].steps), "__main__.layers[*].state[*]['exp_avg']");
  EXPECT_EQ(chosen[0].bytes, 100u);
}

TEST(HolderChoice, AFewListsThatHoldAlikeAreOneHolder) {
  SampleWalk walk;
  const uint32_t by_label = walk.Global("by_label", "dict", 3);
  for (int label = 0; label < 3; ++label) {
    const uint32_t list = walk.builder.Path(by_label, schema::HOLDER_INDEX, std::to_string(label), "list", 20);
    walk.Block(walk.builder.Path(list, schema::HOLDER_ENTRY, "", "Tensor", 0, 20), 100);
  }
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u) << "no other holder has these blocks as well";
  EXPECT_EQ(PathText(chosen[0].steps), "__main__.by_label[*][*]");
  EXPECT_EQ(HolderText(chosen[0]), "__main__.by_label[*]");
  EXPECT_EQ(chosen[0].bytes, 300u);
}

TEST(HolderChoice, AnEntryThatHoldsNearlyAllIsNamed) {
  SampleWalk walk;
  const uint32_t state = walk.Global("state", "dict", 5);
  const uint32_t log = walk.builder.Path(state, schema::HOLDER_KEY, "log", "list", 70);
  const uint32_t entry = walk.builder.Path(log, schema::HOLDER_ENTRY, "", "Tensor", 0, 70);
  for (int i = 0; i < 70; ++i) walk.Block(entry, 10);
  for (const char* other : {"w", "b", "lr", "x"}) {
    walk.Block(walk.builder.Path(state, schema::HOLDER_KEY, other, "Tensor"), 10);
  }
  const std::vector<ChosenHolder> chosen = walk.Choose(1);
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(HolderText(chosen[0]), "__main__.state['log']");
  EXPECT_EQ(chosen[0].bytes, 700u);
}

TEST(HolderChoice, TheLastNameBeforeAGraphHoldsIt) {
  SampleWalk walk;
  const uint32_t total = walk.Local(walk.Frame("train"), "total", "Tensor");
  for (int i = 0; i < 50; ++i) walk.Block(walk.Saved(total, "MulBackward0"), 10);
  for (int i = 0; i < 50; ++i) walk.Block(walk.Saved(total, "AddmmBackward0"), 10);
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(HolderText(chosen[0]), "train(): total");
  EXPECT_EQ(chosen[0].holder_bytes, 1000u);
  EXPECT_FALSE(chosen[0].entries);
}

TEST(HolderChoice, AGraphHoldsWhatAllItsNodesSaved) {
  SampleWalk walk;
  const uint32_t losses = walk.Global("losses", "list", 20);
  const uint32_t entry = walk.builder.Path(losses, schema::HOLDER_ENTRY, "", "Tensor", 0, 20);
  for (int i = 0; i < 93; ++i) walk.Block(walk.Saved(entry, "AddmmBackward0"), 10);
  for (int i = 0; i < 7; ++i) walk.Block(walk.Saved(entry, "MulBackward0"), 10);
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(PathText(chosen[0].steps), "__main__.losses[*].grad_fn");
  EXPECT_EQ(chosen[0].bytes, 1000u);
}

TEST(HolderChoice, ALinkedListIsOneStep) {
  SampleWalk walk;
  uint32_t node = walk.Global("head", "Node");
  for (int i = 0; i < 100; ++i) {
    walk.Block(walk.builder.Path(node, schema::HOLDER_ATTRIBUTE, "value", "Tensor"), 10);
    node = walk.builder.Path(node, schema::HOLDER_ATTRIBUTE, "next", "Node");
  }
  const std::vector<ChosenHolder> chosen = walk.Choose(1);
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(PathText(chosen[0].steps), "__main__.head.next….value");
  EXPECT_GE(chosen[0].bytes, 960u);
}

TEST(HolderChoice, WhatTheWalkDidNotFindIsNotExplained) {
  SampleWalk walk;
  walk.Block(walk.Global("a", "Tensor"), 10);
  walk.Block(0, 90);
  const std::vector<ChosenHolder> chosen = walk.Choose();
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_EQ(chosen[0].bytes, 10u);
  SampleWalk nothing;
  nothing.Block(0, 90);
  EXPECT_TRUE(nothing.Choose().empty());
  EXPECT_TRUE(SampleWalk().Choose().empty());
}

TEST(HolderChoice, PathsAreWrittenAsPythonIs) {
  SampleWalk walk;
  const uint32_t log = walk.Global("log", "list", 30);
  const uint32_t error = walk.builder.Path(log, schema::HOLDER_ENTRY, "", "ValueError", 0, 30);
  const uint32_t frame = walk.builder.Path(error, schema::HOLDER_TRACEBACK, "forward", "traceback");
  const uint32_t y = walk.builder.Path(frame, schema::HOLDER_LOCAL, "y", "Tensor");
  walk.Block(walk.Saved(y), 10);
  EXPECT_EQ(PathText(walk.Choose()[0].steps),
            "__main__.log[*].__traceback__ in forward(): y.grad_fn → saved by AddmmBackward0");
  SampleWalk cycle;
  const uint32_t node = cycle.builder.Path(0, schema::HOLDER_GARBAGE, "Node", "Node", 0, 40);
  cycle.Block(cycle.builder.Path(node, schema::HOLDER_ATTRIBUTE, "value", "Tensor"), 10);
  EXPECT_EQ(PathText(cycle.Choose()[0].steps), "(Node in a reference cycle).value");
  SampleWalk hook;
  const uint32_t net = hook.Global("net", "Net");
  const uint32_t layer = hook.builder.Path(net, schema::HOLDER_MODULE_ATTRIBUTE, "0", "Linear");
  const uint32_t one = hook.builder.Path(layer, schema::HOLDER_HOOK, "", "function", 0, 7);
  hook.Block(hook.builder.Path(one, schema::HOLDER_CLOSURE, "kept", "Tensor"), 10);
  EXPECT_EQ(PathText(hook.Choose()[0].steps), "__main__.net.0 → hook → closure variable kept");
  SampleWalk context;
  const uint32_t served = context.builder.Path(0, schema::HOLDER_CONTEXT_VARIABLE, "served", "list", 30);
  context.Block(context.builder.Path(served, schema::HOLDER_ENTRY, "", "Tensor", 0, 30), 10);
  EXPECT_EQ(PathText(context.Choose()[0].steps), "context variable served[*]");
}

}  // namespace
}  // namespace vramtrack
