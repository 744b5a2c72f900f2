// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/sleep_log.h"

#include <algorithm>

#include "analyzer/ledger/kind.h"
#include "proto/mappable.h"

namespace vramtrack {
namespace {

// Returns whether `ranges`, which do not overlap, have a byte in [begin, begin + bytes).
bool Touches(const absl::btree_map<uint64_t, uint64_t>& ranges, uint64_t begin, uint64_t bytes) {
  auto at = ranges.lower_bound(begin + bytes);
  if (at == ranges.begin()) return false;
  --at;
  return at->first + at->second > begin;
}

// The scopes of a device: the driver's, and a framework's if there is one.
struct ScopesOf {
  const Scope* driver = nullptr;
  const Scope* framework = nullptr;

  ScopesOf(const Ledger& ledger, DeviceIndex device) {
    for (const Scope& scope : ledger.scopes()) {
      if (scope.device != device) continue;
      (scope.level == Level::kFramework ? framework : driver) = &scope;
    }
  }
};

}  // namespace

void SleepLog::Unmap(const ReplayAllocation& freed) {
  const uint64_t address = freed.allocation.address();
  if (freed.site.key.kind == schema::ADDRESS_RANGE) {
    // The device of a range of addresses is not that of the memory.
    for (auto& [device, state] : states_) {
      const auto begin = state.unmapped.lower_bound(address);
      state.unmapped.erase(begin, state.unmapped.lower_bound(address + freed.allocation.bytes));
    }
    return;
  }
  State& state = states_[freed.site.key.device];
  state.unmapped[address] = freed.allocation.bytes;
  state.waking = state.looked = false;
  state.made.clear();
}

void SleepLog::Create(const ReplayAllocation& memory) {
  const auto found = states_.find(memory.site.key.device);
  if (found == states_.end() || found->second.unmapped.empty() || found->second.waking) return;
  found->second.made[memory.allocation.site] += memory.allocation.bytes;
}

void SleepLog::Map(const ReplayAllocation& mapping) {
  const auto found = states_.find(mapping.site.key.device);
  if (found == states_.end()) return;
  State& state = found->second;
  const uint64_t address = mapping.allocation.address(), bytes = mapping.allocation.bytes;
  const auto at = state.unmapped.find(address);
  if (at == state.unmapped.end()) return;
  if (!IsInUse(found->first, &state, address, std::max(bytes, at->second))) {
    state.unmapped.erase(at);
    return;
  }
  // A mapping of another size has none of the blocks that slept: see Segments::AddRange.
  if (!state.waking) NoteCycle(found->first, state, mapping.stream, bytes == at->second ? bytes : 0);
  state.waking = true;
  state.unmapped.erase(at);
}

bool SleepLog::IsInUse(DeviceIndex device, State* state, uint64_t address, uint64_t bytes) const {
  if (ScopesOf(*ledger_, device).framework == nullptr) return true;
  if (!state->looked) {
    state->looked = true;
    state->blocks.clear();
    ledger_->live().ForEach([&](const LiveAllocation& live) {
      if (live.device() != device || LevelOf(ledger_->sites()[live.site].key.kind) != Level::kFramework) return;
      if (Touches(state->unmapped, live.address(), live.bytes)) state->blocks[live.address()] = live.bytes;
    });
  }
  return Touches(state->blocks, address, bytes);
}

void SleepLog::NoteCycle(DeviceIndex device, const State& state, uint64_t memory, uint64_t segment_bytes) {
  DeviceSleeps& sleeps = devices_[device];
  const size_t number = sleeps.count++;
  if (number >= DeviceSleeps::kMaxCycles) return;

  // By now the memory that is mapped first has been made, and perhaps all that is to be mapped.
  uint64_t made = 0;
  for (const auto& [site, bytes] : state.made) made += bytes;
  absl::flat_hash_map<SiteIndex, uint64_t> asleep;
  uint64_t sleeping_blocks = 0;
  SiteIndex waking;  // the site of `memory`
  ledger_->live().ForEach([&](const LiveAllocation& live) {
    if (live.device() != device) return;
    if (live.address() == (memory & LiveAllocation::kAddressMask) && IsMappable(ledger_->sites()[live.site].key.kind)) {
      waking = live.site;
    }
    const auto block = state.blocks.find(live.address());
    if (block == state.blocks.end()) return;
    if (LevelOf(ledger_->sites()[live.site].key.kind) != Level::kFramework) return;
    asleep[live.site] += live.bytes;
    sleeping_blocks += live.bytes;
  });

  const ScopesOf scopes(*ledger_, device);
  SleepCycle cycle;
  cycle.ticks = ledger_->last_ticks();
  for (const auto& [address, bytes] : state.unmapped) cycle.released += bytes;
  if (scopes.driver != nullptr) cycle.held = scopes.driver->pages.reserved() + scopes.driver->outside;
  cycle.held -= std::min(cycle.held, made);
  if (scopes.framework != nullptr) {
    const uint64_t live = scopes.framework->live - std::min(scopes.framework->live, sleeping_blocks);
    const uint64_t counted = scopes.framework->segments->counted();
    const uint64_t reserved = counted - std::min(counted, segment_bytes);
    cycle.cached = reserved - std::min(reserved, live);
  }
  sleeps.cycles.push_back(cycle);

  for (const SiteIndex i : ledger_->sites().indices()) {
    const Site& site = ledger_->sites()[i];
    if (site.scope == Site::kNoScope || ledger_->scopes()[site.scope].device != device) continue;
    uint64_t in_segments = site.segment_bytes;
    if (i == waking) in_segments -= std::min(in_segments, segment_bytes);
    uint64_t held = site.live_bytes - std::min(site.live_bytes, in_segments);
    if (const auto found = asleep.find(i); found != asleep.end()) held -= std::min(held, found->second);
    if (const auto found = state.made.find(i); found != state.made.end()) held -= std::min(held, found->second);
    const auto known = sleeps.held.find(i);
    if (known == sleeps.held.end() ? held == 0 : known->second.back().second == held) continue;
    sleeps.held[i].push_back({number, held});
  }
}

void SleepLog::OnEnd() {
  for (auto& [device, sleeps] : devices_) {
    const State& state = states_[device];
    sleeps.asleep = !state.unmapped.empty() && !state.waking;
  }
}

}  // namespace vramtrack
