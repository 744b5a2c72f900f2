// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/loaded_modules.h"

#include <algorithm>
#include <map>

namespace vramtrack {

void LoadedModules::SetGone(uint32_t id, uint32_t epoch) { gone_.push_back({id, epoch}); }

void LoadedModules::Freeze() {
  // Blocks lie in the file in no order of time: the definitions are put into one that does not depend on it.
  std::stable_sort(modules_.begin(), modules_.end(),
                   [](const TracedModule& a, const TracedModule& b) { return a.id < b.id; });
  modules_.erase(std::unique(modules_.begin(), modules_.end(),
                             [](const TracedModule& a, const TracedModule& b) { return a.id == b.id; }),
                 modules_.end());
  std::map<uint32_t, int> by_id;
  for (size_t i = 0; i < modules_.size(); ++i) by_id[modules_[i].id] = static_cast<int>(i);
  for (const auto& [id, epoch] : gone_) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) continue;
    TracedModule& module = modules_[static_cast<size_t>(found->second)];
    module.gone_epoch = std::min(module.gone_epoch, epoch);
  }
  ranges_.clear();
  for (size_t i = 0; i < modules_.size(); ++i) {
    for (const auto& [start, end] : modules_[i].ranges) {
      if (start < end) ranges_.push_back({start, end, static_cast<int>(i), 0});
    }
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return a.start != b.start ? a.start < b.start : a.module < b.module;
  });
  uint64_t max_end = 0;
  for (Range& range : ranges_) range.max_end = max_end = std::max(max_end, range.end);
}

int LoadedModules::Find(uint64_t address, uint32_t epoch) const {
  auto at = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                             [](uint64_t a, const Range& range) { return a < range.start; });
  int later = -1;
  while (at != ranges_.begin()) {
    --at;
    if (at->max_end <= address) break;
    if (address >= at->end) continue;
    const TracedModule& module = modules_[static_cast<size_t>(at->module)];
    if (epoch >= module.gone_epoch) continue;
    if (epoch >= module.first_epoch) return at->module;
    if (later < 0 || module.first_epoch < modules_[static_cast<size_t>(later)].first_epoch) later = at->module;
  }
  return later;
}

}  // namespace vramtrack
