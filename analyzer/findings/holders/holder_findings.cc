// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/holders/holder_findings.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/holders/held_memory.h"
#include "analyzer/holders/holder_choice.h"
#include "analyzer/holders/holder_words.h"
#include "analyzer/holders/site_holder.h"
#include "analyzer/holders/walked_blocks.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/model/report.h"

namespace vramtrack {
namespace {

constexpr size_t kMostAtFailure = 10;

std::string WhyIncomplete(const HolderWalk& walk) {
  if (walk.stopped != schema::HOLDERS_COMPLETE) return HolderStopText(walk.stopped);
  return walk.whole ? "" : "the process ended, or the trace lost a part of it";
}

bool IsSet(const TracedProcess& process, const std::string& variable) {
  for (const auto& [name, value] : process.environment) {
    if (name == variable) return !value.empty() && value != "0";
  }
  return false;
}

bool IsPythonProcess(const Definitions& definitions) {
  if (absl::StrContains(definitions.process.executable, "python")) return true;
  for (const StackIndex stack : definitions.stacks.distinct()) {
    if (!definitions.stacks.IsPart(stack) && definitions.stacks.Get(stack).python.count > 0) return true;
  }
  return false;
}

// A gradient or a saved tensor that is reached in another way is nothing special there.
uint32_t FlagsOnPath(uint32_t flags, const std::vector<PathStep>& steps) {
  const auto has = [&steps](uint32_t step) {
    return std::any_of(steps.begin(), steps.end(), [step](const PathStep& one) { return one.step == step; });
  };
  if (!has(schema::HOLDER_SAVED)) flags &= ~uint32_t{schema::HOLDER_IS_SAVED};
  if (!has(schema::HOLDER_GRADIENT)) flags &= ~uint32_t{schema::HOLDER_IS_GRADIENT};
  return flags;
}

ReportHolderShare ShareOf(const ChosenHolder& chosen, uint64_t whole) {
  const PathStep& holder = chosen.steps[chosen.holder];
  ReportHolderShare share;
  share.path = PathText(chosen.steps, chosen.holder + 1);
  share.type = holder.type;
  if (holder.entries > 0) share.count = holder.entries;
  share.bytes = chosen.holder_bytes;
  share.objects = chosen.holder_objects;
  share.share = ShareOfBytes(chosen.holder_bytes, whole);
  return share;
}

bool IsOneNumber(const HolderWalk& walk, const WalkedBlock& block) {
  return block.shape > 0 && absl::EndsWith(walk.shapes[block.shape - 1], " []");
}

}  // namespace
void AddMissingWalkWarning(const Trace& trace, std::vector<std::string>* warnings) {
  if (!trace.holder_walks().empty()) return;
  const bool requested = trace.counter(schema::COUNTER_HOLDER_REQUESTS) > 0;
  if (!requested && !IsSet(trace.definitions().process, "VRAMTRACK_HOLDERS")) return;
  if (!IsPythonProcess(trace.definitions())) {
    warnings->push_back(
        absl::StrCat(trace.path(), ": holders are not known: the process has no Python interpreter that could look"));
  } else if (requested) {
    warnings->push_back(absl::StrCat(
        trace.path(), ": a walk through Python's objects was requested, but the process did not get to make it"));
  }
}

namespace {

class HolderFindings final : public Collector {
 public:
  HolderFindings(ProcessAnalysis* analysis, const SitePurposes& purposes)
      : analysis_(*analysis), purposes_(purposes), walks_(analysis->walks()), blocks_(analysis->walked_blocks()) {}

  const char* name() const override { return "holders"; }
  void Prepare(Replay* /*detail*/) override {}

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    DescribeWalks(findings);
    for (size_t i = 0; i < findings->sites.size(); ++i) {
      ReportSite& site = findings->sites[i];
      if (!site.part_of.is_none()) continue;
      site.holder = DescribeSite(SitesOf(findings->sites, i), IsLeak(site));
    }
    const WalkFacts facts{analysis_, purposes_, walks_, blocks_.at()};
    for (ReportDevice& device : findings->devices) {
      const DeviceIndex index(device.index);
      device.held = DescribeHeldMemory(facts, index);
      device.module_memory = DescribeModuleMemory(facts, index);
    }
    DescribeOom(&findings->oom);
    AddWarnings(&findings->warnings);
  }

 private:
  void DescribeWalks(ProcessFindings* findings) const {
    const TickClock& clock = analysis_.trace().clock();
    for (size_t i = 0; i < walks_.all().size(); ++i) {
      const HolderWalk& walk = walks_.all()[i];
      ReportWalk described;
      described.moment = MomentOf(walk);
      described.step = ReportedStep(analysis_.run(), blocks_.at()[i].step);
      described.seconds = clock.Seconds(walk.end_ticks);
      described.duration_s = static_cast<double>(walk.end_ticks - walk.begin_ticks) / clock.ticks_per_second();
      described.objects = walk.objects;
      described.tensors = walk.tensors;
      described.blocks = blocks_.at()[i].seen;
      described.stopped = WhyIncomplete(walk);
      findings->walks.push_back(std::move(described));
    }
  }

  // Returns the sites of a group and, if it leads a leak, those of its parts, as far as a walk can see their blocks.
  std::vector<SiteIndex> SitesOf(const std::vector<ReportSite>& sites, size_t group) const {
    std::vector<SiteIndex> all, of_framework;
    for (size_t i = 0; i < sites.size(); ++i) {
      if (i != group && sites[i].part_of != ListedSite(group)) continue;
      for (const SiteIndex site : analysis_.groups()[i].sites) {
        const Level level = LevelOf(analysis_.ledger().sites()[site].key.kind);
        if (level == Level::kHandle) continue;
        all.push_back(site);
        if (level == Level::kFramework) of_framework.push_back(site);
      }
    }
    // The segments that these blocks are in are the same memory.
    return of_framework.empty() ? all : of_framework;
  }

  std::optional<ReportHolder> DescribeSite(const std::vector<SiteIndex>& sites, bool leak) const {
    const std::optional<SiteHolder> found = HolderOf(sites, walks_, blocks_, leak);
    if (!found) return std::nullopt;
    const size_t chosen_walk = found->walk;
    const HolderWalk& walk = walks_.all()[chosen_walk];
    ReportHolder holder;
    holder.walk = walk.number;
    holder.step = ReportedStep(analysis_.run(), blocks_.at()[chosen_walk].step);
    holder.seconds = analysis_.trace().clock().Seconds(walk.end_ticks);
    holder.complete = walk.complete();
    holder.walked_bytes = found->bytes;
    for (const HeldBlocks* held : found->blocks) {
      if (!held->path.is_none()) continue;
      holder.not_seen_bytes += held->bytes;
      holder.not_seen_objects += held->objects;
    }
    const std::vector<ChosenHolder>& chosen = found->chosen;
    if (chosen.empty()) {
      // A walk looks for blocks of PyTorch. That it did not find other memory says nothing; of sites that do not leak
      // it is of no interest.
      const Level level = LevelOf(analysis_.ledger().sites()[sites[0]].key.kind);
      if (!leak || level != Level::kFramework) return std::nullopt;
      holder.how = HolderKind::kUnknown;
      holder.explanation = ExplainUnknownHolder(holder);
      return holder;
    }

    const ChosenHolder& first = chosen[0];
    const PathStep& object = first.steps[first.holder];
    holder.path = PathText(first.steps);
    holder.container = PathText(first.steps, first.holder + 1);
    holder.type = object.type;
    holder.file = first.steps[0].file;
    if (object.entries > 0) holder.count = object.entries;
    if (object.limit > 0) holder.limit = object.limit;
    holder.bytes = first.bytes;
    holder.share = ShareOfBytes(first.bytes, found->bytes);
    for (size_t i = 1; i < chosen.size(); ++i) holder.others.push_back(ShareOf(chosen[i], found->bytes));
    DescribeGrowth(chosen_walk, object, &holder);
    holder.how = holder.share < kMainHolder ? HolderKind::kSeveral : HowItHolds(first);
    holder.explanation = ExplainHolder(first, holder, leak);

    HolderFacts facts;
    facts.leak = leak;
    facts.hooks_grow = HooksGrow(chosen_walk, first, holder);
    std::set<uint32_t> birth_steps;
    std::map<HolderPathIndex, std::vector<PathStep>> steps_of;
    for (const HeldBlocks* held : found->blocks) {
      if (held->path.is_none()) continue;
      const auto [steps, is_new] = steps_of.try_emplace(held->path);
      if (is_new) steps->second = PathSteps(walks_.paths(), walk, held->path);
      if (!IsHeldBy(first, steps->second)) continue;
      birth_steps.insert(held->birth_step);
      facts.flags |= FlagsOnPath(held->flags, steps->second);
    }
    // Only leaks get a hint, and a walk may have met many blocks.
    facts.numbers = leak && std::all_of(walk.blocks.begin(), walk.blocks.end(), [&](const WalkedBlock& block) {
                      const auto steps = steps_of.find(block.path);
                      return steps == steps_of.end() || !IsHeldBy(first, steps->second) || IsOneNumber(walk, block);
                    });
    if (analysis_.plan().has_steps() || analysis_.plan().has_windows()) facts.birth_steps = birth_steps.size();
    holder.hint = HolderHint(first, holder, facts);
    return holder;
  }

  void DescribeGrowth(size_t walk, const PathStep& step, ReportHolder* holder) const {
    if (!holder->count || step.path.is_none()) return;
    for (size_t i = 0; i < walk; ++i) {
      const HolderWalk& earlier = walks_.all()[i];
      const uint64_t entries = earlier.At(step.path).entries;
      if (entries == 0) continue;
      holder->count_before = entries;
      holder->step_before = ReportedStep(analysis_.run(), blocks_.at()[i].step);
      holder->seconds_before = analysis_.trace().clock().Seconds(earlier.end_ticks);
      return;
    }
  }

  bool HooksGrow(size_t walk, const ChosenHolder& chosen, const ReportHolder& holder) const {
    size_t hook = chosen.holder;
    while (hook < chosen.steps.size() && chosen.steps[hook].step != schema::HOLDER_HOOK) ++hook;
    if (hook == chosen.steps.size()) return false;
    // The hooks are entries of the object that holds.
    if (chosen.entries && hook <= chosen.holder + 2 && holder.count && holder.count_before &&
        *holder.count > *holder.count_before) {
      return true;
    }
    const HolderPathIndex path = chosen.steps[hook].path;
    if (path.is_none()) return false;
    for (size_t i = 0; i < walk; ++i) {
      const uint64_t before = walks_.all()[i].At(path).objects;
      if (before > 0) return chosen.steps[hook].objects > before;
    }
    return false;
  }

  void DescribeOom(std::vector<ReportOom>* ooms) const {
    const TickClock& clock = analysis_.trace().clock();
    const Sites& sites = analysis_.ledger().sites();
    for (size_t i = 0; i < walks_.all().size(); ++i) {
      const HolderWalk& walk = walks_.all()[i];
      if (walk.moment != schema::HOLDERS_AT_OUT_OF_MEMORY) continue;
      // It was made because of the last failure before it.
      ReportOom* of = nullptr;
      for (ReportOom& oom : *ooms) {
        if (oom.seconds > clock.Seconds(walk.begin_ticks)) continue;
        if (of == nullptr || oom.seconds >= of->seconds) of = &oom;
      }
      if (of == nullptr || !of->held_by.empty()) continue;
      const std::vector<const HeldBlocks*> blocks = BlocksOnDevice(blocks_.at()[i], sites, DeviceIndex(of->device));
      uint64_t whole = 0;
      for (const HeldBlocks* held : blocks) whole += held->bytes;
      for (const ChosenHolder& chosen : ChooseHolders(walks_.paths(), walk, PathsOf(blocks), kMostAtFailure, 0.01)) {
        of->held_by.push_back(ShareOf(chosen, whole));
      }
    }
  }

  // Adds a line for each walk that is not complete.
  void AddWarnings(std::vector<std::string>* warnings) const {
    const Trace& trace = analysis_.trace();
    if (walks_.malformed_frames() > 0) {
      warnings->push_back(absl::StrCat(trace.path(), ": ", Plural(walks_.malformed_frames(), "part", "parts"),
                                       " of walks through Python's objects cannot be read"));
    }
    for (const HolderWalk& walk : walks_.all()) {
      if (walk.complete()) continue;
      warnings->push_back(absl::StrCat(trace.path(), ": the walk through Python's objects after ",
                                       FormatSeconds(trace.clock().Seconds(walk.end_ticks)),
                                       " is incomplete: ", WhyIncomplete(walk)));
    }
  }

  ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  const HolderWalks& walks_;
  const WalkedBlocks& blocks_;
};

}  // namespace

std::unique_ptr<Collector> MakeHolderFindings(ProcessAnalysis* analysis, const SitePurposes& purposes) {
  return std::make_unique<HolderFindings>(analysis, purposes);
}

}  // namespace vramtrack
