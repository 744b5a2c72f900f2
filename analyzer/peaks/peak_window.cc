// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/peak_window.h"

#include <algorithm>
#include <functional>

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

struct Placed {
  uint64_t begin, end;
  const Lifetime* lifetime;
};

// Each at the lowest address that is free throughout its life. `first` is the lifetime that has the first offset.
Placement PlaceInOrder(const std::vector<const Lifetime*>& order, const Lifetime* first, size_t count) {
  std::vector<Placed> placed;  // by address
  Placement placement;
  placement.offsets.resize(count);
  for (const Lifetime* lifetime : order) {
    uint64_t begin = 0;
    for (const Placed& other : placed) {
      if (other.lifetime->death <= lifetime->birth || lifetime->death <= other.lifetime->birth) continue;
      if (other.begin >= begin + lifetime->bytes) break;
      begin = std::max(begin, other.end);
    }
    const Placed entry = {begin, begin + lifetime->bytes, lifetime};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), entry,
                                   [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
                  entry);
    placement.bytes = std::max(placement.bytes, entry.end);
    placement.offsets[static_cast<size_t>(lifetime - first)] = begin;
  }
  return placement;
}

}  // namespace

Placement BestPlacement(const std::vector<Lifetime>& lifetimes) {
  std::vector<const Lifetime*> order;
  for (const Lifetime& lifetime : lifetimes) {
    if (lifetime.birth < lifetime.death && lifetime.bytes > 0) order.push_back(&lifetime);
  }
  const auto length = [](const Lifetime* l) { return static_cast<double>(l->death - l->birth); };
  const auto bytes = [](const Lifetime* l) { return static_cast<double>(l->bytes); };
  const std::function<double(const Lifetime*)> kFirst[] = {
      bytes,
      length,
      [&](const Lifetime* l) { return bytes(l) * length(l); },
      [](const Lifetime* l) { return -static_cast<double>(l->birth); },
  };
  Placement best;
  best.bytes = UINT64_MAX;
  for (const auto& first : kFirst) {
    std::stable_sort(order.begin(), order.end(),
                     [&first](const Lifetime* a, const Lifetime* b) { return first(a) > first(b); });
    Placement placement = PlaceInOrder(order, lifetimes.data(), lifetimes.size());
    if (placement.bytes < best.bytes) best = std::move(placement);
  }
  return best;
}

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
