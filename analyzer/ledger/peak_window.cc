// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/peak_window.h"

namespace vramtrack {

void PeakWindow::OnBirth(uint64_t event, std::pair<uint32_t, uint64_t> id, uint64_t bytes) {
  const auto birth = static_cast<uint32_t>(event - begin_);
  live_[id] = lifetimes_.size();
  lifetimes_.push_back({birth, static_cast<uint32_t>(peak_ - begin_ + 1), bytes});
  born_and_live_bytes_ += bytes;
}

void PeakWindow::OnDeath(uint64_t event, std::pair<uint32_t, uint64_t> id, uint64_t bytes) {
  const auto death = static_cast<uint32_t>(event - begin_);
  const auto found = live_.find(id);
  if (found == live_.end()) {
    lifetimes_.push_back({0, death, bytes});
    return;
  }
  lifetimes_[found->second].death = death;
  live_.erase(found);
  born_and_live_bytes_ -= bytes;
}

uint64_t PeakWindow::Bound(uint64_t peak_bytes) const {
  const uint64_t there_throughout = peak_bytes > born_and_live_bytes_ ? peak_bytes - born_and_live_bytes_ : 0;
  return there_throughout + BestPlacement(lifetimes_).bytes;
}

}  // namespace vramtrack
