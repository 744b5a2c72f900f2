// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/site_table.h"

namespace vramtrack {

uint32_t SiteTable::Find(const SiteKey& key, bool* is_new) {
  const auto [found, inserted] = by_key_.try_emplace(key, static_cast<uint32_t>(sites_.size()));
  *is_new = inserted;
  if (inserted) {
    sites_.emplace_back();
    sites_.back().key = key;
  }
  return found->second;
}

}  // namespace vramtrack
