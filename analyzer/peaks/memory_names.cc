// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/memory_names.h"

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
  if (name == 0) {
    sites_.CountWithoutKey(allocation->site);
  } else {
    sites_.Count(allocation->site, name);
  }
}

std::optional<MemoryNames::Name> MemoryNames::Of(const std::vector<SiteIndex>& sites) const {
  const std::optional<SiteKeys::Most> most = sites_.MostFrequent(sites);
  if (!most) return std::nullopt;
  const auto text = trace_.definitions().names.find(most->key);
  if (text == trace_.definitions().names.end() || text->second.empty()) return std::nullopt;
  return Name{text->second, most->share};
}

}  // namespace vramtrack
