// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/memory_names.h"

#include <algorithm>
#include <map>

namespace vramtrack {

void MemoryNames::OnOtherEvent(const StreamEvent& event) {
  if (event.operation != schema::MARK || event.shape->kind != schema::MARK_MEMORY_NAME || event.past) return;
  // MARK_MEMORY_NAME says how an allocation is numbered.
  constexpr int kOrdinalBits = 40;
  if (event.value[1] == 0) return;
  const uint64_t identity = event.value[1] - 1;
  const ThreadSlot slot = trace_.SlotOf(static_cast<uint32_t>(identity >> kOrdinalBits));
  if (slot.is_none()) return;
  const LiveAllocation* allocation = ledger_->live().Find(slot, identity & ((uint64_t{1} << kOrdinalBits) - 1));
  if (allocation == nullptr) return;
  const auto name = static_cast<uint32_t>(event.value[0]);
  sites_.GrowTo(allocation->site);
  Counts& counts = sites_[allocation->site];
  const auto is = [](uint32_t wanted) {
    return [wanted](const std::pair<uint32_t, uint64_t>& one) { return one.first == wanted; };
  };
  auto found = std::find_if(counts.begin(), counts.end(), is(name));
  if (found == counts.end() && counts.size() >= kNamesPerSite)
    found = std::find_if(counts.begin(), counts.end(), is(0));
  if (found == counts.end()) {
    counts.emplace_back(counts.size() >= kNamesPerSite ? 0 : name, 1);
  } else {
    ++found->second;
  }
}

std::optional<MemoryNames::Name> MemoryNames::Of(const std::vector<SiteIndex>& sites) const {
  std::map<uint32_t, uint64_t> objects;
  uint64_t all = 0;
  for (const SiteIndex site : sites) {
    if (!sites_.Has(site)) continue;
    for (const auto& [name, count] : sites_[site]) {
      objects[name] += count;
      all += count;
    }
  }
  objects.erase(0);
  const auto most = std::max_element(objects.begin(), objects.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == objects.end()) return std::nullopt;
  const auto text = trace_.definitions().names.find(most->first);
  if (text == trace_.definitions().names.end() || text->second.empty()) return std::nullopt;
  return Name{text->second, static_cast<double>(most->second) / static_cast<double>(all)};
}

}  // namespace vramtrack
