// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/holders/held_memory.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/holders/path_text.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

constexpr size_t kMostSaved = 20, kMostModules = 50, kMostShapes = 20;
// A walk that saw less than this part of what another one saw is not described.
constexpr double kMostOfTheBest = 0.5;

// A block may be several of these; the first one counts.
const char* CategoryOfFlags(uint32_t flags) {
  if ((flags & schema::HOLDER_IS_PARAMETER) != 0) return "parameters";
  if ((flags & schema::HOLDER_IS_GRADIENT) != 0) return "gradients";
  if ((flags & schema::HOLDER_IS_OPTIMIZER_STATE) != 0) return "optimizer_state";
  if ((flags & schema::HOLDER_IS_BUFFER) != 0) return "buffers";
  if ((flags & schema::HOLDER_IS_SAVED) != 0) return "saved_for_backward";
  return "named";
}

// "model.transformer.h.3.mlp.c_fc" of a path to its weight; empty if it leads through no module.
std::string ModuleOf(const HolderPaths& paths, const HolderWalk& walk, HolderPathIndex path) {
  const std::vector<PathStep> steps = PathSteps(paths, walk, path);
  for (size_t i = steps.size(); i-- > 1;) {
    if (steps[i].step == schema::HOLDER_MODULE_ATTRIBUTE) return PathText(steps, i, true);
  }
  return "";
}

using Parts = std::map<std::string, ReportHeld::Part>;

void AddTo(Parts* parts, const std::string& name, const HeldBlocks& held) {
  ReportHeld::Part& part = (*parts)[name];
  part.name = name;
  part.bytes += held.bytes;
  part.objects += held.objects;
}

std::vector<ReportHeld::Part> Largest(const Parts& parts, size_t most) {
  std::vector<ReportHeld::Part> sorted;
  for (const auto& [name, part] : parts) sorted.push_back(part);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

uint64_t SeenBytes(const std::vector<const HeldBlocks*>& blocks) {
  uint64_t bytes = 0;
  for (const HeldBlocks* held : blocks) bytes += IsSeen(*held) ? held->bytes : 0;
  return bytes;
}

}  // namespace

bool IsSeen(const HeldBlocks& held) { return !held.path.is_none() || held.flags != 0; }

std::string CategoryOf(const WalkFacts& facts, const HeldBlocks& held) {
  const Purpose& purpose = facts.purposes[held.site];
  if (IsSeen(held) && purpose.evidence != PurposeEvidence::kRule) return CategoryOfFlags(held.flags);
  return facts.analysis.options().categories.Name(purpose.category);
}

std::string SavedBy(const HolderPaths& paths, HolderPathIndex path) {
  for (; !path.is_none(); path = paths[path].parent) {
    if (paths[path].step == schema::HOLDER_SAVED) return paths[path].name;
  }
  return "";
}

std::vector<const HeldBlocks*> BlocksOnDevice(const BlocksAtWalk& at, const Sites& sites, DeviceIndex device) {
  std::vector<const HeldBlocks*> of_framework, of_driver;
  for (const HeldBlocks& held : at.held) {
    const SiteKey& key = sites[held.site].key;
    if (key.device != device) continue;
    if (LevelOf(key.kind) == Level::kFramework) {
      of_framework.push_back(&held);
    } else if (IsSeen(held)) {
      of_driver.push_back(&held);
    }
  }
  return of_framework.empty() ? of_driver : of_framework;
}

WalkMoment MomentOf(const HolderWalk& walk) {
  switch (walk.moment) {
    case schema::HOLDERS_AT_GROWTH:
      return WalkMoment::kGrowth;
    case schema::HOLDERS_AT_OUT_OF_MEMORY:
      return WalkMoment::kOutOfMemory;
    case schema::HOLDERS_AT_REQUEST:
      return WalkMoment::kRequest;
    case schema::HOLDERS_AT_EXIT:
      return WalkMoment::kExit;
    case schema::HOLDERS_AT_INTERVAL:
      return WalkMoment::kInterval;
    default:
      return WalkMoment::kUnknown;
  }
}

std::vector<size_t> WalksOf(const WalkFacts& facts, DeviceIndex device) {
  std::vector<uint64_t> seen;
  for (const BlocksAtWalk& one : facts.at) {
    seen.push_back(SeenBytes(BlocksOnDevice(one, facts.analysis.ledger().sites(), device)));
  }
  const uint64_t most = seen.empty() ? 0 : *std::max_element(seen.begin(), seen.end());
  std::vector<size_t> walks;
  for (size_t i = 0; most > 0 && i < seen.size(); ++i) {
    if (static_cast<double>(seen[i]) >= kMostOfTheBest * static_cast<double>(most)) walks.push_back(i);
  }
  return walks;
}

std::optional<ReportHeld> DescribeHeldMemory(const WalkFacts& facts, DeviceIndex device) {
  const auto& [analysis, purposes, walks, at] = facts;
  const Sites& sites = analysis.ledger().sites();
  const std::vector<size_t> possible = WalksOf(facts, device);
  if (possible.empty()) return std::nullopt;
  const size_t chosen = possible.back();

  const HolderWalk& walk = walks.all()[chosen];
  ReportHeld described;
  described.walk = walk.number;
  described.step = ReportedStep(analysis.run(), at[chosen].step);
  described.seconds = analysis.trace().clock().Seconds(walk.end_ticks);
  described.complete = walk.complete();
  std::map<std::pair<bool, std::string>, ReportHeld::Category> categories;  // by whether inferred, and name
  Parts saved, modules;
  constexpr uint32_t kOfModule = schema::HOLDER_IS_PARAMETER | schema::HOLDER_IS_GRADIENT | schema::HOLDER_IS_BUFFER;
  for (const HeldBlocks* held : BlocksOnDevice(at[chosen], sites, device)) {
    const bool inferred = !IsSeen(*held);
    const std::string name = CategoryOf(facts, *held);
    ReportHeld::Category& category = categories[{inferred, name}];
    category.name = name;
    category.source = inferred ? CategorySource::kInferred : CategorySource::kWalk;
    category.bytes += held->bytes;
    category.objects += held->objects;
    if (name == "saved_for_backward") {
      const std::string node = SavedBy(walks.paths(), held->path);
      if (!node.empty()) AddTo(&saved, node, *held);
    }
    if ((held->flags & kOfModule) == 0) continue;
    if (const std::string module = ModuleOf(walks.paths(), walk, held->path); !module.empty()) {
      AddTo(&modules, module, *held);
    }
  }
  for (const auto& [key, category] : categories) described.categories.push_back(category);
  std::stable_sort(described.categories.begin(), described.categories.end(), [](const auto& a, const auto& b) {
    return a.source != b.source ? a.source < b.source : a.bytes > b.bytes;
  });
  described.saved = Largest(saved, kMostSaved);
  described.modules = Largest(modules, kMostModules);
  Parts shapes;
  for (const HeldShape& held : at[chosen].shapes) {
    if (held.device != device) continue;
    const std::string& name = walk.shapes[held.shape - 1];
    shapes[name] = {name, held.bytes, held.objects};
  }
  described.shapes = Largest(shapes, kMostShapes);
  return described;
}

namespace {

constexpr size_t kMostParts = 1000;

using ModulePaths = absl::flat_hash_set<HolderPathIndex>;

// The paths of a walk that lead to modules: something registered with them follows.
ModulePaths PathsOfModules(const HolderPaths& paths, const HolderWalk& walk) {
  ModulePaths modules;
  for (const auto& [path, walked] : walk.paths) {
    if (paths[path].step == schema::HOLDER_MODULE_ATTRIBUTE) modules.insert(paths[path].parent);
  }
  return modules;
}

// How many of the steps lead to the innermost module: 0 if none of them is one.
size_t StepsToModule(const std::vector<PathStep>& steps, const ModulePaths& modules) {
  for (size_t i = steps.size(); i-- > 0;) {
    if (!steps[i].path.is_none() && modules.contains(steps[i].path)) return i + 1;
  }
  return 0;
}

// What each of the first `count` steps adds to the text of the path, without the marks between them.
std::vector<std::string> NamesOf(const std::vector<PathStep>& steps, size_t count) {
  std::vector<std::string> names;
  size_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::string text = PathText(steps, i + 1, true);
    const size_t begin = text.find_first_not_of(".: ", std::min(before, text.size()));
    if (begin != std::string::npos) names.push_back(text.substr(begin));
    before = text.size();
  }
  return names;
}

// The variable that holds what a path leads to: the path up to its first entry or graph.
std::string VariableOf(const std::vector<PathStep>& steps) {
  size_t count = 1;
  while (count < steps.size() && !IsGraph(steps[count].step) && (count == 1 || !IsEntry(steps[count].step))) ++count;
  return PathText(steps, count, true);
}

ReportModuleMemory::Part PartOf(const WalkFacts& facts, const HolderWalk& walk, const ModulePaths& modules,
                                const HeldBlocks& held) {
  ReportModuleMemory::Part part;
  part.category = CategoryOf(facts, held);
  part.source = IsSeen(held) ? CategorySource::kWalk : CategorySource::kInferred;
  if (held.path.is_none()) return part;
  if (part.category == "saved_for_backward") {
    // The module that keeps a graph is not the one whose activations it has.
    part.name = SavedBy(facts.walks.paths(), held.path);
    return part;
  }
  const std::vector<PathStep> steps = PathSteps(facts.walks.paths(), walk, held.path);
  const size_t of_module = StepsToModule(steps, modules);
  part.module = NamesOf(steps, of_module);
  if (part.module.empty()) {
    part.name = VariableOf(steps);
  } else if (part.category == "named") {
    // Such as a cache that is an attribute of a module.
    part.name = NamesOf(steps, std::min(of_module + 1, steps.size())).back();
  }
  return part;
}

}  // namespace

std::optional<ReportModuleMemory> DescribeModuleMemory(const WalkFacts& facts, DeviceIndex device) {
  const Sites& sites = facts.analysis.ledger().sites();
  size_t chosen = 0;
  ReportModuleMemory memory;
  for (const size_t i : WalksOf(facts, device)) {
    uint64_t live = 0;
    for (const HeldBlocks* held : BlocksOnDevice(facts.at[i], sites, device)) live += held->bytes;
    if (live >= memory.live) chosen = i;
    memory.live = std::max(memory.live, live);
  }
  if (memory.live == 0) return std::nullopt;
  const HolderWalk& walk = facts.walks.all()[chosen];
  memory.walk = walk.number;
  memory.moment = MomentOf(walk);
  memory.step = ReportedStep(facts.analysis.run(), facts.at[chosen].step);
  memory.seconds = facts.analysis.trace().clock().Seconds(walk.end_ticks);
  memory.complete = walk.complete();

  const ModulePaths modules = PathsOfModules(facts.walks.paths(), walk);
  std::map<std::tuple<std::vector<std::string>, std::string, CategorySource, std::string>, ReportModuleMemory::Part>
      sums;
  for (const HeldBlocks* held : BlocksOnDevice(facts.at[chosen], sites, device)) {
    ReportModuleMemory::Part part = PartOf(facts, walk, modules, *held);
    ReportModuleMemory::Part& sum = sums[{part.module, part.category, part.source, part.name}];
    part.bytes = sum.bytes + held->bytes;
    part.objects = sum.objects + held->objects;
    sum = std::move(part);
  }
  for (auto& [key, part] : sums) memory.parts.push_back(std::move(part));
  std::stable_sort(memory.parts.begin(), memory.parts.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  for (; memory.parts.size() > kMostParts; memory.parts.pop_back()) {
    ++memory.other_parts;
    memory.other_bytes += memory.parts.back().bytes;
  }
  return memory;
}

}  // namespace vramtrack
