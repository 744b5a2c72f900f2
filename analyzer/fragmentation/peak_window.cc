// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/peak_window.h"

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

uint64_t Rounded(const ReplayAllocation& changed) {
  const uint32_t kind = changed.site.key.kind;
  const uint64_t bytes = changed.allocation.bytes;
  if (LevelOf(kind) == Level::kFramework) return bytes;  // they are as the allocator rounded them
  return RoundedBytes(HasDeviceAddress(kind) ? changed.allocation.address() : 0, bytes);
}

}  // namespace

void PeakWindow::OnBirth(uint64_t event, AllocationName id, uint64_t bytes) {
  const auto birth = static_cast<uint32_t>(event - begin_);
  live_[id] = lifetimes_.size();
  lifetimes_.push_back({birth, static_cast<uint32_t>(peak_ - begin_ + 1), bytes});
  born_and_live_bytes_ += bytes;
}

void PeakWindow::OnDeath(uint64_t event, AllocationName id, uint64_t bytes) {
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

PeakWindows::PeakWindows(const std::map<DeviceIndex, uint64_t>& peak_changes) {
  for (const auto& [device, change] : peak_changes) windows_.emplace_back(device, change);
}

const PeakWindow* PeakWindows::Find(DeviceIndex device) const {
  for (const auto& [of, window] : windows_) {
    if (of == device) return &window;
  }
  return nullptr;
}

void PeakWindows::OnAllocate(const ReplayAllocation& allocated) {
  if (PeakWindow* window = WindowOf(allocated)) {
    window->OnBirth(allocated.scope->changes - 1, {allocated.slot, allocated.ordinal}, Rounded(allocated));
  }
}

void PeakWindows::OnFree(const ReplayAllocation& freed) {
  if (PeakWindow* window = WindowOf(freed)) {
    window->OnDeath(freed.scope->changes - 1, {freed.slot, freed.ordinal}, Rounded(freed));
  }
}

}  // namespace vramtrack
