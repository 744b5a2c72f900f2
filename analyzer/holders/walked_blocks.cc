// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/walked_blocks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

using HeldKey = std::tuple<SiteIndex, HolderPathIndex, uint32_t, uint32_t>;

const WalkedBlock* FindBlock(const std::vector<WalkedBlock>& blocks, uint64_t address) {
  const auto found = std::lower_bound(blocks.begin(), blocks.end(), address,
                                      [](const WalkedBlock& block, uint64_t at) { return block.address < at; });
  return found == blocks.end() || found->address != address ? nullptr : &*found;
}

bool IsSame(const LiveAllocation& a, const LiveAllocation* b) {
  return b != nullptr && a.place == b->place && a.site == b->site;
}

}  // namespace

void WalkedBlocks::OnBegin(const Ledger& ledger) { ledger_ = &ledger; }

void WalkedBlocks::Allocated(const ReplayAllocation& allocated) {
  Reach(&allocated.allocation, nullptr);
  if (at_.size() == walks_.all().size()) return;
  if (ledger_->last_ticks() > walks_.all()[at_.size()].begin_ticks) during_walk_.insert(allocated.allocation.address());
}

void WalkedBlocks::Reach(const LiveAllocation* allocated, const LiveAllocation* freed) {
  while (at_.size() < walks_.all().size() && walks_.all()[at_.size()].end_ticks < ledger_->last_ticks()) {
    LookUp(walks_.all()[at_.size()], allocated, freed);
    during_walk_.clear();
  }
  step_ = ledger_->steps().step();
}

void WalkedBlocks::OnEnd() {
  settled_ = settled_ && at_.size() == walks_.all().size();
  while (at_.size() < walks_.all().size()) {
    LookUp(walks_.all()[at_.size()], nullptr, nullptr);
    during_walk_.clear();
  }
}

void WalkedBlocks::LookUp(const HolderWalk& walk, const LiveAllocation* allocated, const LiveAllocation* freed) {
  BlocksAtWalk at;
  at.step = step_;
  // Addresses at which a block of a framework begins: what the driver gave out there is its segment.
  absl::flat_hash_set<uint64_t> of_framework;
  absl::flat_hash_map<HeldKey, HeldBlocks> sums;
  std::map<std::pair<DeviceIndex, uint32_t>, HeldShape> shapes;
  const Sites& sites = ledger_->sites();
  const auto add = [&](const LiveAllocation& one, const WalkedBlock* block) {
    const HolderPathIndex path = block == nullptr ? HolderPathIndex::None() : block->path;
    const uint32_t flags = block == nullptr ? 0 : block->flags;
    HeldBlocks& sum = sums[{one.site, path, flags, one.birth_step}];
    sum.site = one.site;
    sum.path = path;
    sum.flags = flags;
    sum.birth_step = one.birth_step;
    sum.bytes += one.bytes;
    ++sum.objects;
    at.seen += block != nullptr;
    if (block == nullptr || block->shape == 0) return;
    const DeviceIndex device = sites[one.site].key.device;
    HeldShape& of_shape = shapes[{device, block->shape}];
    of_shape.shape = block->shape;
    of_shape.device = device;
    of_shape.bytes += one.bytes;
    ++of_shape.objects;
  };
  bool skipped = false;
  const auto for_each = [&](bool framework, auto visit) {
    skipped = false;
    ledger_->live().ForEach([&](const AllocationName&, const LiveAllocation& one) {
      if (one.site.is_none() || !sites.Has(one.site)) return;
      const uint32_t kind = sites[one.site].key.kind;
      if (framework ? LevelOf(kind) != Level::kFramework : LevelOf(kind) != Level::kDriver || !HasDeviceAddress(kind)) {
        return;
      }
      if (!skipped && IsSame(one, allocated)) {
        skipped = true;
        return;
      }
      visit(one);
    });
    if (freed == nullptr || !sites.Has(freed->site)) return;
    const uint32_t kind = sites[freed->site].key.kind;
    if (framework ? LevelOf(kind) == Level::kFramework : LevelOf(kind) == Level::kDriver && HasDeviceAddress(kind)) {
      visit(*freed);
    }
  };
  for_each(true, [&](const LiveAllocation& one) {
    of_framework.insert(one.address());
    if (during_walk_.contains(one.address())) return;
    add(one, FindBlock(walk.blocks, one.address()));
  });
  for_each(false, [&](const LiveAllocation& one) {
    if (of_framework.contains(one.address()) || during_walk_.contains(one.address())) return;
    add(one, FindBlock(walk.blocks, one.address()));
  });
  at.absent = walk.blocks.size() - std::min<uint64_t>(walk.blocks.size(), at.seen);
  for (const auto& [key, of_shape] : shapes) at.shapes.push_back(of_shape);
  for (auto& [key, sum] : sums) at.held.push_back(sum);
  std::sort(at.held.begin(), at.held.end(), [](const HeldBlocks& a, const HeldBlocks& b) {
    return std::make_tuple(a.site, a.path, a.flags, a.birth_step) <
           std::make_tuple(b.site, b.path, b.flags, b.birth_step);
  });
  at_.push_back(std::move(at));
}

}  // namespace vramtrack
