// SPDX-License-Identifier: Apache-2.0
//
// Jobs that leak, with walks that know who holds what.
#include "analyzer/findings/holders/holder_findings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

using schema::FRAMEWORK_BLOCK;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kStepTicks = 10000000;
constexpr uint64_t kBase = uint64_t{1} << 40;

// A job that keeps a block of 4 MiB in each step, and one for weights.
class Job : public JobBuilder {
 public:
  Job() : JobBuilder({{"python3", "train.py"}}) {
    Device(16384 * kMiB);
    AllocateAt(4, kBase, 4096 * kMiB);
    BlockAt(3, kBase, 64 * kMiB);
  }

  void Run(uint64_t steps) {
    for (; steps > 0; --steps) {
      const JobObject freed = BlockAt(2, kBase + 64 * kMiB, 32 * kMiB);
      kept_.push_back(BlockAt(1, kBase + 128 * kMiB + step() * 8 * kMiB, 4 * kMiB).address);
      Free(freed);
      EndStep();
      Pass(kStepTicks);
    }
  }

  // Begins a walk at the present moment.
  HolderWalkBuilder Walk(schema::HolderMoment moment = schema::HOLDERS_AT_GROWTH) {
    const uint64_t begin = now();
    Pass(1000);
    HolderWalkBuilder walk(++walks_, moment, begin, begin + 500);
    walk.SetCounts(360000, kept_.size() + 1);
    module_ = walk.Path(0, schema::HOLDER_MODULE, "__main__", "module", 0, 1, "/job/train.py");
    const uint32_t model = walk.Path(module_, schema::HOLDER_ATTRIBUTE, "model", "GPT");
    const uint32_t layer = walk.Path(model, schema::HOLDER_MODULE_ATTRIBUTE, "wte", "Embedding");
    walk.Block(kBase, walk.Path(layer, schema::HOLDER_MODULE_ATTRIBUTE, "weight", "Parameter"),
               schema::HOLDER_IS_PARAMETER, "Parameter", 16, walk.Shape({4096, 8192}));
    return walk;
  }
  // The list that keeps the losses with their graphs.
  uint32_t History(HolderWalkBuilder* walk) const {
    const uint32_t history = walk->Path(module_, schema::HOLDER_ATTRIBUTE, "history", "list", kept_.size());
    const uint32_t entry = walk->Path(history, schema::HOLDER_ENTRY, "", "Tensor", 0, kept_.size());
    const uint32_t graph = walk->Path(entry, schema::HOLDER_GRAPH, "", "MseLossBackward0", 0, kept_.size());
    return walk->Path(graph, schema::HOLDER_SAVED, "AddmmBackward0", "Tensor", 0, kept_.size());
  }
  void WalkToHistory(schema::HolderMoment moment = schema::HOLDERS_AT_GROWTH) {
    HolderWalkBuilder walk = Walk(moment);
    const uint32_t saved = History(&walk);
    for (const uint64_t address : kept_) walk.Block(address, saved, schema::HOLDER_IS_SAVED);
    trace().HolderWalk(walk);
  }
  ProcessFindings Find() { return FindInJob(this); }

  std::vector<uint64_t> kept_;
  uint32_t module_ = 0, walks_ = 0;
};

const ReportSite& Leak(const ProcessFindings& findings) {
  for (const ReportSite& site : findings.sites) {
    if (IsLeak(site) && site.level == Level::kFramework && site.part_of.is_none()) return site;
  }
  ADD_FAILURE() << "no leak";
  return findings.sites[0];
}

TEST(HolderFindings, ALeakHasAHolderThatGrew) {
  Job job;
  job.Run(40);
  job.WalkToHistory();
  job.Run(40);
  job.WalkToHistory(schema::HOLDERS_AT_REQUEST);
  job.Run(5);
  const ProcessFindings findings = job.Find();
  ASSERT_TRUE(Leak(findings).holder.has_value());
  const ReportHolder& holder = *Leak(findings).holder;
  EXPECT_EQ(holder.path, "__main__.history[*].grad_fn → saved by AddmmBackward0");
  EXPECT_EQ(holder.container, "__main__.history");
  EXPECT_EQ(holder.type, "list");
  EXPECT_EQ(holder.file, "/job/train.py");
  EXPECT_EQ(holder.count, 80u);
  EXPECT_EQ(holder.count_before, 40u);
  EXPECT_EQ(holder.step, 80);
  EXPECT_EQ(holder.step_before, 40);
  EXPECT_EQ(holder.share, 1);
  EXPECT_EQ(holder.bytes, 320 * kMiB);
  EXPECT_EQ(holder.walked_bytes, 320 * kMiB);
  EXPECT_EQ(holder.not_seen_bytes, 0u);
  EXPECT_EQ(holder.how, HolderKind::kGraph);
  EXPECT_TRUE(holder.complete);
  EXPECT_EQ(holder.explanation,
            "history (a list in train.py, 80 entries, 40 at step 40): each entry keeps its graph; all of the leak's "
            "bytes");
  EXPECT_NE(holder.hint.find(".detach()"), std::string::npos);
  ASSERT_EQ(findings.walks.size(), 2u);
  EXPECT_EQ(findings.walks[0].moment, WalkMoment::kGrowth);
  EXPECT_EQ(findings.walks[1].moment, WalkMoment::kRequest);
  EXPECT_EQ(findings.walks[1].step, 80);
  EXPECT_EQ(findings.walks[1].objects, 360000u);
  EXPECT_EQ(findings.walks[1].blocks, 81u);
  EXPECT_NEAR(findings.walks[1].duration_s, 500e-9, 1e-9);
  EXPECT_EQ(findings.walks[1].stopped, "");
}

// A job whose blocks are in a buffer that takes `limit` entries, as the walk at its end finds it.
ProcessFindings FindBelowLimit(uint64_t limit) {
  Job job;
  job.Run(60);
  HolderWalkBuilder walk = job.Walk();
  const uint32_t frames = walk.Path(walk.Path(job.module_, schema::HOLDER_ATTRIBUTE, "replay", "ReplayBuffer"),
                                    schema::HOLDER_ATTRIBUTE, "frames", "list", job.kept_.size());
  if (limit > 0) walk.Limit(frames, limit);
  const uint32_t entry = walk.Path(frames, schema::HOLDER_ENTRY, "", "Tensor", 0, job.kept_.size());
  for (const uint64_t address : job.kept_) walk.Block(address, entry);
  job.trace().HolderWalk(walk);
  job.Run(2);
  return job.Find();
}

TEST(HolderFindings, GrowthBelowTheLimitOfAContainerMayEnd) {
  const ProcessFindings below = FindBelowLimit(500);
  for (const ReportSite& site : below.sites) EXPECT_FALSE(IsLeak(site));
  ASSERT_FALSE(below.reasons.empty());
  EXPECT_EQ(below.reasons[0].id, "limit");
  for (const char* part : {"__main__.replay.frames", "500 entries", "had 60", "1.95 GiB"}) {
    EXPECT_NE(below.reasons[0].text.find(part), std::string::npos) << below.reasons[0].text;
  }

  // No container says how much it takes; it has taken more; more than the device has.
  for (const uint64_t limit : {0, 60, 61, 1000000}) {
    const ReportSite leak = Leak(FindBelowLimit(limit));
    EXPECT_EQ(leak.holder->limit.has_value(), limit != 0) << limit;
  }
  EXPECT_NE(Leak(FindBelowLimit(0)).holder->hint, "");
  EXPECT_EQ(Leak(FindBelowLimit(1000000)).holder->hint, "");
  EXPECT_NE(Leak(FindBelowLimit(1000000)).holder->explanation.find("60 of at most 1,000,000 entries"),
            std::string::npos);
}

// Returns the hint for a leaking list of tensors. All have one number each, but the last one, which has these sizes.
std::string HintForListOf(const std::vector<uint64_t>& last) {
  Job job;
  job.Run(60);
  HolderWalkBuilder walk = job.Walk();
  const uint32_t losses = walk.Path(job.module_, schema::HOLDER_ATTRIBUTE, "losses", "list", job.kept_.size());
  const uint32_t entry = walk.Path(losses, schema::HOLDER_ENTRY, "", "Tensor", 0, job.kept_.size());
  for (const uint64_t address : job.kept_) {
    walk.Block(address, entry, 0, "Tensor", 7,
               walk.Shape(address == job.kept_.back() ? last : std::vector<uint64_t>()));
  }
  job.trace().HolderWalk(walk);
  job.Run(2);
  const ProcessFindings findings = job.Find();
  return Leak(findings).holder ? Leak(findings).holder->hint : "no holder";
}

TEST(HolderFindings, NumbersAreStoredAsNumbers) {
  EXPECT_EQ(HintForListOf({}).rfind("store .item() of each entry", 0), 0u) << HintForListOf({});
  EXPECT_EQ(HintForListOf({1, 8}).rfind("bound losses", 0), 0u) << HintForListOf({1, 8});
}

TEST(HolderFindings, DevicesKnowWhatTheirMemoryIsFor) {
  Job job;
  job.Run(40);
  job.WalkToHistory();
  const ProcessFindings findings = job.Find();
  ASSERT_EQ(findings.devices.size(), 1u);
  ASSERT_TRUE(findings.devices[0].held.has_value());
  const ReportHeld& held = *findings.devices[0].held;
  ASSERT_EQ(held.categories.size(), 2u);
  EXPECT_EQ(held.categories[0].name, "saved_for_backward");
  EXPECT_EQ(held.categories[0].source, CategorySource::kWalk);
  EXPECT_EQ(held.categories[0].bytes, 160 * kMiB);
  EXPECT_EQ(held.categories[1].name, "parameters");
  EXPECT_EQ(held.categories[1].bytes, 64 * kMiB);
  ASSERT_EQ(held.saved.size(), 1u);
  EXPECT_EQ(held.saved[0].name, "AddmmBackward0");
  ASSERT_EQ(held.modules.size(), 1u);
  EXPECT_EQ(held.modules[0].name, "model.wte");
  // Of blocks without a known shape there is nothing.
  ASSERT_EQ(held.shapes.size(), 1u);
  EXPECT_EQ(held.shapes[0].name, "bfloat16 [4096, 8192]");
  EXPECT_EQ(held.shapes[0].bytes, 64 * kMiB);
  EXPECT_EQ(held.shapes[0].objects, 1u);
}

const ReportModuleMemory::Part* PartOf(const ReportModuleMemory& memory, const std::string& category) {
  for (const ReportModuleMemory::Part& part : memory.parts) {
    if (part.category == category) return &part;
  }
  ADD_FAILURE() << "no " << category;
  return &memory.parts[0];
}

TEST(HolderFindings, ModulesAreThoseOfTheWalkNearestToThePeak) {
  Job job;
  job.Run(30);
  const JobObject spike = job.BlockAt(4, 2 * kBase, 512 * kMiB);
  job.WalkToHistory();
  job.Free(job.BlockAt(4, 3 * kBase, 100 * kMiB));
  job.Free(spike);
  job.Run(25);
  job.WalkToHistory(schema::HOLDERS_AT_REQUEST);
  const ProcessFindings findings = job.Find();
  ASSERT_TRUE(findings.devices[0].module_memory.has_value());
  const ReportModuleMemory& memory = *findings.devices[0].module_memory;
  EXPECT_EQ(findings.devices[0].held->walk, 2u);
  EXPECT_EQ(memory.walk, 1u);
  EXPECT_EQ(memory.moment, WalkMoment::kGrowth);
  EXPECT_EQ(memory.step, 30);
  EXPECT_EQ(memory.live, 696 * kMiB);
  EXPECT_EQ(findings.devices[0].peak.live, 796 * kMiB);
  ASSERT_EQ(memory.parts.size(), 3u);
  EXPECT_EQ(memory.parts[0].source, CategorySource::kInferred);
  EXPECT_EQ(memory.parts[0].bytes, 512 * kMiB);
  EXPECT_TRUE(memory.parts[1].module.empty());
  EXPECT_EQ(memory.parts[1].category, "saved_for_backward");
  EXPECT_EQ(memory.parts[1].source, CategorySource::kWalk);
  EXPECT_EQ(memory.parts[1].name, "AddmmBackward0");
  EXPECT_EQ(memory.parts[1].bytes, 120 * kMiB);
  EXPECT_EQ(memory.parts[1].objects, 30u);
  EXPECT_EQ(memory.parts[2].module, (std::vector<std::string>{"model", "wte"}));
  EXPECT_EQ(memory.parts[2].category, "parameters");
  EXPECT_EQ(memory.parts[2].bytes, 64 * kMiB);
  EXPECT_EQ(memory.other_parts, 0u);
}

TEST(HolderFindings, ACacheOfAModuleIsInTheModule) {
  Job job;
  job.Run(40);
  HolderWalkBuilder walk = job.Walk();
  const uint32_t model = walk.Path(job.module_, schema::HOLDER_ATTRIBUTE, "model", "GPT");
  const uint32_t layer = walk.Path(model, schema::HOLDER_MODULE_ATTRIBUTE, "wte", "Embedding");
  const uint32_t cache = walk.Path(layer, schema::HOLDER_ATTRIBUTE, "cache", "dict", 20);
  const uint32_t entry = walk.Path(cache, schema::HOLDER_ENTRY, "", "Tensor", 0, 20);
  const uint32_t list = walk.Path(job.module_, schema::HOLDER_ATTRIBUTE, "outputs", "list", 10);
  const uint32_t output = walk.Path(list, schema::HOLDER_ENTRY, "", "Tensor", 0, 10);
  for (size_t i = 0; i < 20; ++i) walk.Block(job.kept_[i], entry);
  for (size_t i = 20; i < 30; ++i) walk.Block(job.kept_[i], output, schema::HOLDER_IS_GRADIENT);
  job.trace().HolderWalk(walk);
  job.Run(2);
  const ProcessFindings findings = job.Find();
  const ReportModuleMemory& memory = *findings.devices[0].module_memory;
  const ReportModuleMemory::Part& named = *PartOf(memory, "named");
  EXPECT_EQ(named.module, (std::vector<std::string>{"model", "wte"}));
  EXPECT_EQ(named.name, "cache");
  EXPECT_EQ(named.bytes, 80 * kMiB);
  const ReportModuleMemory::Part& outside = *PartOf(memory, "gradients");
  EXPECT_TRUE(outside.module.empty());
  EXPECT_EQ(outside.name, "outputs");
  uint64_t inferred = 0, all = 0;
  for (const ReportModuleMemory::Part& part : memory.parts) {
    inferred += part.source == CategorySource::kInferred ? part.bytes : 0;
    all += part.bytes;
  }
  EXPECT_EQ(inferred, 40 * kMiB) << "what the walk did not find";
  EXPECT_EQ(all, memory.live);
}

TEST(HolderFindings, BlocksThatNoWalkSawAreInferred) {
  Job job;
  job.Run(40);
  job.trace().HolderWalk(job.Walk());
  const ProcessFindings findings = job.Find();
  const ReportHolder& holder = *Leak(findings).holder;
  EXPECT_EQ(holder.how, HolderKind::kUnknown);
  EXPECT_EQ(holder.not_seen_bytes, 160 * kMiB);
  EXPECT_EQ(holder.not_seen_objects, 40u);
  EXPECT_EQ(holder.hint, "");
  bool inferred = false;
  for (const ReportHeld::Category& category : findings.devices[0].held->categories) {
    inferred = inferred || (category.source == CategorySource::kInferred && category.bytes == 160 * kMiB);
  }
  EXPECT_TRUE(inferred);
}

TEST(HolderFindings, TheWalkThatMetMostOfTheLeakCounts) {
  Job job;
  job.Run(60);
  job.WalkToHistory();
  job.Run(20);
  // The list has gone out of scope, as far as this walk came.
  HolderWalkBuilder last = job.Walk(schema::HOLDERS_AT_EXIT);
  last.SetStopped(schema::HOLDERS_OUT_OF_TIME);
  job.trace().HolderWalk(last);
  const ProcessFindings findings = job.Find();
  const ReportHolder& holder = *Leak(findings).holder;
  EXPECT_EQ(holder.walk, 1u);
  EXPECT_TRUE(holder.complete);
  EXPECT_EQ(findings.walks[1].stopped, "its time limit was reached");
  bool warned = false;
  for (const std::string& warning : findings.warnings) {
    warned = warned || warning.find("its time limit was reached") != std::string::npos;
  }
  EXPECT_TRUE(warned);
}

TEST(HolderFindings, AWalkThatKnowsNamesCountsMoreThanOneThatMeetsACycle) {
  Job job;
  job.Run(30);
  job.WalkToHistory();
  job.Run(70);
  // The function that had the list has ended. It is in a cycle with others of its variables.
  HolderWalkBuilder last = job.Walk(schema::HOLDERS_AT_EXIT);
  const uint32_t trainer = last.Path(0, schema::HOLDER_GARBAGE, "Trainer", "Trainer");
  const uint32_t history = last.Path(trainer, schema::HOLDER_ATTRIBUTE, "history", "list", 100);
  const uint32_t entry = last.Path(history, schema::HOLDER_ENTRY, "", "Tensor", 0, 100);
  for (const uint64_t address : job.kept_) last.Block(address, entry);
  job.trace().HolderWalk(last);
  const ProcessFindings findings = job.Find();
  const ReportHolder& holder = *Leak(findings).holder;
  EXPECT_EQ(holder.walk, 1u);
  EXPECT_EQ(holder.container, "__main__.history");
}

TEST(HolderFindings, WhatTheFirstStepWorksWithIsNotTheLeak) {
  Job job;
  // The line that leaks also makes something large that lives for a moment.
  const JobObject temporary = job.BlockAt(1, 2 * kBase, 1024 * kMiB);
  HolderWalkBuilder first = job.Walk();
  const uint32_t frame = first.Path(0, schema::HOLDER_FRAME, "main", "frame", 0, 1, "/job/train.py");
  first.Block(temporary.address, first.Path(frame, schema::HOLDER_LOCAL, "batch", "Tensor"));
  job.trace().HolderWalk(first);
  job.Free(temporary);
  job.Run(60);
  job.WalkToHistory(schema::HOLDERS_AT_EXIT);
  const ProcessFindings findings = job.Find();
  EXPECT_EQ(Leak(findings).holder->walk, 2u);
  EXPECT_EQ(Leak(findings).holder->container, "__main__.history");
}

TEST(HolderFindings, TheLocalOfThisStepIsNotGuilty) {
  Job job;
  job.Run(40);
  HolderWalkBuilder walk = job.Walk();
  const uint32_t saved = job.History(&walk);
  const uint32_t frame = walk.Path(0, schema::HOLDER_FRAME, "main", "frame", 0, 1, "/job/train.py");
  const uint32_t local = walk.Path(frame, schema::HOLDER_LOCAL, "loss", "Tensor");
  for (size_t i = 0; i < job.kept_.size(); ++i) {
    walk.Block(job.kept_[i], i + 1 == job.kept_.size() ? local : saved, schema::HOLDER_IS_SAVED);
  }
  job.trace().HolderWalk(walk);
  job.Run(2);
  const ProcessFindings findings = job.Find();
  const ReportHolder& holder = *Leak(findings).holder;
  EXPECT_EQ(holder.container, "__main__.history");
  EXPECT_NEAR(holder.share, 39. / 40, 1e-9);
}

TEST(HolderFindings, SeveralPlacesAreNotOne) {
  Job job;
  job.Run(40);
  HolderWalkBuilder walk = job.Walk();
  uint32_t lists[3];
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t list = walk.Path(job.module_, schema::HOLDER_ATTRIBUTE, std::string(1, 'a' + i), "list", 14);
    lists[i] = walk.Path(list, schema::HOLDER_ENTRY, "", "Tensor", 0, 14);
  }
  for (size_t i = 0; i < job.kept_.size(); ++i) walk.Block(job.kept_[i], lists[i % 3]);
  job.trace().HolderWalk(walk);
  job.Run(2);
  const ProcessFindings findings = job.Find();
  const ReportHolder& holder = *Leak(findings).holder;
  EXPECT_EQ(holder.how, HolderKind::kSeveral);
  EXPECT_EQ(holder.explanation.find("several places: a (a list in train.py, 14 entries) 35 % of the leak's bytes"), 0u)
      << holder.explanation;
  EXPECT_EQ(holder.others.size(), 2u);
  EXPECT_EQ(holder.hint, "");
}

TEST(HolderFindings, AFailedAllocationKnowsWhoHeldTheMemory) {
  Job job;
  job.Run(30);
  job.Fail(4, 64 * kMiB);
  job.WalkToHistory(schema::HOLDERS_AT_OUT_OF_MEMORY);
  job.Run(10);
  const ProcessFindings findings = job.Find();
  ASSERT_EQ(findings.oom.size(), 1u);
  ASSERT_EQ(findings.oom[0].held_by.size(), 2u);
  EXPECT_EQ(findings.oom[0].held_by[0].path, "__main__.history");
  EXPECT_EQ(findings.oom[0].held_by[0].type, "list");
  EXPECT_EQ(findings.oom[0].held_by[0].bytes, 120 * kMiB);
  EXPECT_EQ(findings.oom[0].held_by[1].path, "__main__.model.wte.weight");
}

TEST(HolderFindings, AProcessWithoutAnInterpreterHasNoHolders) {
  const auto warned = [](const std::vector<std::pair<std::string, std::string>>& environment) {
    BuiltProcess process;
    process.environment = environment;
    JobBuilder job(process);
    job.Allocate(1, kMiB);
    std::vector<std::string> warnings;
    AddMissingWalkWarning(*TestTrace(job.Finish()), &warnings);
    return !warnings.empty() && warnings[0].find("no Python interpreter") != std::string::npos;
  };
  EXPECT_TRUE(warned({{"VRAMTRACK_HOLDERS", "all"}}));
  EXPECT_FALSE(warned({{"VRAMTRACK_HOLDERS", "0"}}));
  EXPECT_FALSE(warned({}));
}

TEST(HolderFindings, WithoutWalksThereIsNothing) {
  Job job;
  job.Run(40);
  const ProcessFindings findings = job.Find();
  EXPECT_FALSE(Leak(findings).holder.has_value());
  EXPECT_TRUE(findings.walks.empty());
  EXPECT_FALSE(findings.devices[0].held.has_value());
  EXPECT_FALSE(findings.devices[0].module_memory.has_value());
}

}  // namespace
}  // namespace vramtrack
