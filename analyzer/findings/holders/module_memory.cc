// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/holders/module_memory.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/holders/path_text.h"

namespace vramtrack {
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
