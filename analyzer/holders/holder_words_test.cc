// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/holder_words.h"

#include <gtest/gtest.h>

#include "analyzer/holders/testing/sample_walks.h"

namespace vramtrack {
namespace {

// What the first holder of a walk is in a report.
struct Sample {
  ChosenHolder chosen;
  ReportHolder holder;
  HolderFacts facts;

  explicit Sample(const SampleWalk& walk) : chosen(walk.Choose()[0]) {
    const PathStep& object = chosen.steps[chosen.holder];
    holder.type = object.type;
    if (object.entries > 0) holder.count = object.entries;
    holder.share = 1;
    holder.how = HowItHolds(chosen);
    facts.leak = true;
    facts.birth_steps = 50;
  }
  void GrewFrom(uint64_t count, int64_t step) {
    holder.count_before = count;
    holder.step_before = step;
  }
  std::string Explanation() const { return ExplainHolder(chosen, holder, facts.leak); }
  std::string Hint() const { return HolderHint(chosen, holder, facts); }
};

SampleWalk KeptLosses() {
  SampleWalk walk;
  const uint32_t history = walk.Global("history", "list", 1204);
  const uint32_t entry = walk.builder.Path(history, schema::HOLDER_ENTRY, "", "dict", 2, 1204);
  walk.Block(walk.Saved(walk.builder.Path(entry, schema::HOLDER_KEY, "loss", "Tensor")), 100, schema::HOLDER_IS_SAVED);
  return walk;
}

SampleWalk GrowingList(const char* type = "list") {
  SampleWalk walk;
  const uint32_t cache = walk.Local(walk.Frame("evaluate", "/job/eval.py"), "cache", type, 400);
  walk.Block(walk.builder.Path(cache, schema::HOLDER_ENTRY, "", "Tensor", 0, 400), 100);
  return walk;
}

TEST(HolderWords, AKeptGraphIsDetached) {
  Sample sample(KeptLosses());
  sample.GrewFrom(602, 40);
  sample.holder.share = 0.987;
  EXPECT_EQ(sample.holder.how, HolderKind::kGraph);
  EXPECT_EQ(sample.Explanation(),
            "history (a list in train.py, 1,204 entries, 602 at step 40): each entry's 'loss' keeps its graph; 98 % of "
            "the leak's bytes");
  EXPECT_EQ(sample.Hint(), "store .item() or .detach() of 'loss': the tensor itself keeps its whole graph");
}

TEST(HolderWords, ACacheGetsALimit) {
  Sample sample(GrowingList("functools._lru_cache_wrapper"));
  EXPECT_EQ(sample.Hint(), "bound cache (functools.lru_cache(maxsize=...)), or call its cache_clear()");
}

TEST(HolderWords, NumbersAreStoredAsNumbers) {
  Sample sample(GrowingList());
  sample.facts.numbers = true;
  EXPECT_EQ(sample.Hint(),
            "store .item() of each entry: it is one number, and a tensor of it keeps a block of the device");
  Sample graphs(KeptLosses());
  graphs.facts.numbers = true;
  EXPECT_EQ(graphs.Hint(), "store .item() or .detach() of 'loss': the tensor itself keeps its whole graph");
}

TEST(HolderWords, AGraphOfTheCurrentStepIsNoPattern) {
  SampleWalk walk;
  walk.Block(walk.Saved(walk.Local(walk.Frame("train"), "loss", "Tensor")), 100, schema::HOLDER_IS_SAVED);
  Sample sample(walk);
  EXPECT_EQ(sample.Explanation(),
            "loss (a Tensor in train() of train.py): it keeps its graph; all of the leak's bytes");
  EXPECT_NE(sample.Hint().find("detach loss in each step"), std::string::npos) << "its graph is of 50 steps";
  sample.facts.birth_steps = 1;
  EXPECT_EQ(sample.Hint(), "");
}

TEST(HolderWords, AListThatGrowsIsBounded) {
  Sample sample(GrowingList());
  sample.GrewFrom(20, 3);
  EXPECT_EQ(sample.holder.how, HolderKind::kEntries);
  EXPECT_EQ(sample.Explanation(),
            "cache (a list in evaluate() of eval.py, 400 entries, 20 at step 3); all of the leak's bytes");
  EXPECT_EQ(sample.Hint(), "bound cache (collections.deque(maxlen=...)), or delete entries that are done with");
  EXPECT_NE(Sample(GrowingList("collections.OrderedDict")).Hint(), "");
  EXPECT_NE(Sample(GrowingList("collections.deque")).Hint().find("maxlen"), std::string::npos);
  EXPECT_EQ(Sample(GrowingList("mine.OrderedDict")).Hint(), "");
}

TEST(HolderWords, NoHintWhereTheContainerMayBeRight) {
  Sample same_size(GrowingList());
  same_size.GrewFrom(400, 3);
  same_size.facts.birth_steps = 1;
  EXPECT_EQ(same_size.Hint(), "") << "it does not grow";
  EXPECT_EQ(Sample(GrowingList("ReplayBuffer")).Hint(), "") << "a class of the user's own";
  for (const uint32_t flags : {schema::HOLDER_IS_OPTIMIZER_STATE, schema::HOLDER_IS_PARAMETER}) {
    Sample owned(GrowingList("dict"));
    owned.facts.flags = flags;
    EXPECT_EQ(owned.Hint(), "") << flags;
  }
  Sample other(GrowingList());
  other.facts.leak = false;
  EXPECT_EQ(other.Hint(), "") << "no leak";
  Sample half(GrowingList());
  half.holder.share = 0.4;
  EXPECT_EQ(half.Hint(), "") << "it explains less than half";
}

TEST(HolderWords, NoHintWhereTheContainerIsNotTheProgrammers) {
  SampleWalk of_library;
  const uint32_t module = of_library.Module("weakref", "/usr/lib/python3.11/weakref.py");
  const uint32_t registry = of_library.builder.Path(module, schema::HOLDER_ATTRIBUTE, "registry", "dict", 60);
  of_library.Block(of_library.builder.Path(registry, schema::HOLDER_ENTRY, "", "Tensor", 0, 60), 100);
  EXPECT_EQ(Sample(of_library).Hint(), "");
  SampleWalk of_optimizer;
  const uint32_t optimizer = of_optimizer.Global("optimizer", "Adam");
  const uint32_t groups = of_optimizer.builder.Path(optimizer, schema::HOLDER_ATTRIBUTE, "param_groups", "list", 60);
  of_optimizer.Block(of_optimizer.builder.Path(groups, schema::HOLDER_ENTRY, "", "Tensor", 0, 60), 100);
  EXPECT_EQ(Sample(of_optimizer).Hint(), "");
}

TEST(HolderWords, AQueueGetsASize) {
  SampleWalk walk;
  const uint32_t results = walk.Global("results", "Queue");
  const uint32_t queue = walk.builder.Path(results, schema::HOLDER_ATTRIBUTE, "queue", "collections.deque", 60);
  walk.Block(walk.builder.Path(queue, schema::HOLDER_ENTRY, "", "Tensor", 0, 60), 100);
  EXPECT_EQ(Sample(walk).Hint(), "bound results (maxsize=...), or take its entries out in time");
}

TEST(HolderWords, AFewEntriesThatStayAsManyAreNotBounded) {
  SampleWalk walk;
  const uint32_t last = walk.Global("last", "list", 2);
  walk.Block(walk.builder.Path(last, schema::HOLDER_ENTRY, "", "Tensor", 0, 2), 100);
  Sample sample(walk);
  EXPECT_EQ(sample.Hint(), "");
  sample.GrewFrom(1, 10);
  EXPECT_NE(sample.Hint(), "");
}

TEST(HolderWords, AKeptTracebackIsDropped) {
  const auto kept = [](uint32_t first, SampleWalk* walk) {
    const uint32_t frame = walk->builder.Path(first, schema::HOLDER_TRACEBACK, "forward", "traceback");
    walk->Block(walk->Saved(walk->builder.Path(frame, schema::HOLDER_LOCAL, "y", "Tensor")), 100);
  };
  SampleWalk log;
  kept(log.builder.Path(log.Global("log", "list", 30), schema::HOLDER_ENTRY, "", "ValueError", 0, 30), &log);
  const Sample sample(log);
  EXPECT_EQ(sample.holder.how, HolderKind::kTraceback);
  EXPECT_EQ(sample.Explanation(),
            "log (a list in train.py, 30 entries): each entry keeps its traceback, with the variables of forward(); "
            "all of the leak's bytes");
  EXPECT_NE(sample.Hint().find("with_traceback(None)"), std::string::npos);
  SampleWalk handled;
  kept(handled.builder.Path(0, schema::HOLDER_EXCEPTION, "ValueError", "ValueError"), &handled);
  EXPECT_EQ(Sample(handled).Hint(), "") << "it goes away when it has been handled";
}

TEST(HolderWords, HooksThatAreRegisteredAgain) {
  SampleWalk walk;
  const uint32_t layer = walk.Global("layer", "Linear");
  const uint32_t hook = walk.builder.Path(layer, schema::HOLDER_HOOK, "", "function", 0, 70);
  walk.Block(walk.builder.Path(hook, schema::HOLDER_CLOSURE, "kept", "Tensor", 0, 70), 100);
  Sample sample(walk);
  EXPECT_EQ(sample.holder.how, HolderKind::kHook);
  EXPECT_EQ(sample.Hint(), "");
  sample.facts.hooks_grow = true;
  EXPECT_NE(sample.Hint().find(".remove()"), std::string::npos);
  // Where each of several hooks has an entry, they are the hooks of the module.
  SampleWalk many;
  const uint32_t hooks =
      many.builder.Path(many.Global("layer", "Linear"), schema::HOLDER_HOOK, "", "collections.OrderedDict", 100);
  const uint32_t each = many.builder.Path(hooks, schema::HOLDER_ENTRY, "", "function", 0, 100);
  many.Block(many.builder.Path(each, schema::HOLDER_CLOSURE, "batch", "Tensor", 0, 100), 100);
  Sample again(many);
  again.GrewFrom(15, 15);
  EXPECT_EQ(again.Explanation(),
            "the hooks of layer (an OrderedDict in train.py, 100 entries, 15 at step 15); all of the leak's bytes");
  // A list that a hook fills is a list that grows.
  SampleWalk filled;
  const uint32_t one = filled.builder.Path(filled.Global("layer", "Linear"), schema::HOLDER_HOOK, "", "function");
  const uint32_t kept = filled.builder.Path(one, schema::HOLDER_CLOSURE, "kept", "list", 500);
  filled.Block(filled.builder.Path(kept, schema::HOLDER_ENTRY, "", "Tensor", 0, 500), 100);
  EXPECT_EQ(Sample(filled).holder.how, HolderKind::kEntries);
}

TEST(HolderWords, CyclesAndOthersThanPython) {
  SampleWalk cycle;
  const uint32_t node = cycle.builder.Path(0, schema::HOLDER_GARBAGE, "Node", "Node", 0, 40);
  cycle.Block(cycle.builder.Path(node, schema::HOLDER_ATTRIBUTE, "value", "Tensor", 0, 40), 10);
  const Sample garbage(cycle);
  EXPECT_EQ(garbage.holder.how, HolderKind::kCycle);
  EXPECT_EQ(garbage.Explanation(),
            "reference cycles of Node objects that only the garbage collector can free; all of the leak's bytes");
  EXPECT_NE(garbage.Hint().find("gc.collect()"), std::string::npos);
  SampleWalk outside;
  outside.Block(outside.builder.Path(0, schema::HOLDER_OUTSIDE, "Tensor", "Tensor", 0, 40), 10);
  const Sample held(outside);
  EXPECT_EQ(held.holder.how, HolderKind::kOutside);
  EXPECT_EQ(held.Explanation(), "C or C++ code, through a Tensor object; all of the leak's bytes");
  EXPECT_EQ(held.Hint(), "");
}

TEST(HolderWords, AContainerInOneCycleIsTheHolder) {
  SampleWalk walk;
  uint32_t at = walk.builder.Path(0, schema::HOLDER_GARBAGE, "job.Trainer", "job.Trainer");
  at = walk.builder.Path(at, schema::HOLDER_ATTRIBUTE, "losses", "list", 120);
  walk.Block(walk.builder.Path(at, schema::HOLDER_ENTRY, "", "Tensor", 0, 120), 10);
  const Sample sample(walk);
  EXPECT_EQ(sample.holder.how, HolderKind::kCycle);
  EXPECT_EQ(sample.Explanation(),
            "(job.Trainer in a reference cycle).losses (a list, 120 entries); all of the leak's bytes");
  EXPECT_EQ(sample.Hint(), "");
}

TEST(HolderWords, ObjectsWithoutANameAreInsideOneThatHasOne) {
  SampleWalk walk;
  uint32_t at = walk.Global("recorder", "RecursiveScriptModule");
  at = walk.builder.Path(at, schema::HOLDER_ATTRIBUTE, "_c", "torch._C.ScriptModule");
  for (int i = 0; i < 2; ++i) at = walk.builder.Path(at, schema::HOLDER_MEMBER);
  walk.Block(at, 100);
  EXPECT_EQ(Sample(walk).Explanation(), "inside recorder._c (a ScriptModule in train.py); all of the leak's bytes");
  SampleWalk context;
  at = context.builder.Path(0, schema::HOLDER_OUTSIDE, "_contextvars.Context", "_contextvars.Context");
  at = context.builder.Path(at, schema::HOLDER_MEMBER, "", "hamt");
  for (int i = 0; i < 9; ++i) {
    context.Block(context.builder.Path(at, schema::HOLDER_INDEX, std::to_string(i), "Tensor"), 100);
  }
  EXPECT_EQ(Sample(context).Explanation(), "C or C++ code, through a Context object; all of the leak's bytes");
}

TEST(HolderWords, SaysWhereItIsNotSure) {
  Sample sample(GrowingList());
  sample.holder.share = 0.41;
  sample.holder.how = HolderKind::kSeveral;
  ReportHolderShare other;
  other.path = "__main__.history";
  other.share = 0.3;
  sample.holder.others.push_back(other);
  sample.holder.walked_bytes = 100;
  sample.holder.not_seen_bytes = 29;
  sample.holder.complete = false;
  EXPECT_EQ(sample.Explanation(),
            "several places: cache (a list in evaluate() of eval.py, 400 entries) 41 % of the leak's bytes, "
            "__main__.history 30 %; the walk did not find what holds 29 %; the walk stopped early, so there may be "
            "other holders");
  EXPECT_NE(ExplainUnknownHolder(sample.holder).find("stopped early"), std::string::npos);
}

TEST(HolderWords, NamesAreSafeForATerminal) {
  SampleWalk walk;
  const uint32_t cache = walk.Global("ca\x1b[31mche", "li\nst", 400);
  const uint32_t entry = walk.builder.Path(cache, schema::HOLDER_ENTRY, "", "dict", 2, 400);
  walk.Block(walk.Saved(walk.builder.Path(entry, schema::HOLDER_KEY, "it's\x1b", "Tensor"), "A\x1b"), 100);
  const Sample sample(walk);
  for (const std::string& text : {sample.Explanation(), sample.Hint(), PathText(sample.chosen.steps)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace vramtrack
