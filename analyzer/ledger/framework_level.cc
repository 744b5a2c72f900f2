// SPDX-License-Identifier: Apache-2.0
//
// Implements the ledger's framework level: a framework's allocator divides the driver's memory into blocks.
// docs/ledger.md explains it.
#include <algorithm>

#include "analyzer/ledger/ledger.h"

namespace vramtrack {

void Ledger::AddFrameworkLevels() {
  const auto add = [this](DeviceIndex device) {
    const uint32_t driver = ScopeOf(Level::kDriver, device), framework = ScopeOf(Level::kFramework, device);
    segments_.emplace_back();
    scopes_[driver].segments = scopes_[framework].segments = &segments_.back();
    scopes_[driver].other_level = framework;
    scopes_[framework].other_level = driver;
    return framework;
  };
  for (uint32_t number = 0; number < 64; ++number) {
    if ((trace_.framework_devices() >> number & 1) == 0) continue;
    const uint32_t framework = add(DeviceIndex(number));
    const TracedAllocator* allocator = trace_.definitions().AllocatorOn(number);
    scopes_[framework].by_handle = allocator != nullptr && allocator->by_handle;
  }
  if (trace_.has_pinned_blocks()) add(kHost);
}

// Memory at an address, where blocks may come to lie.
void Ledger::EnterRange(const LiveAllocation& allocation, SiteIndex site, AllocationName memory, SiteIndex mapping) {
  const uint32_t scope = sites_.sites()[site].scope;
  if (scope == Site::kNoScope || scopes_[scope].segments == nullptr) return;
  const bool of_graph = IsGraphPool(sites_.sites()[site].key.kind);
  has_graph_pools_ |= of_graph;
  CountSegments(scopes_[scope], scopes_[scope].segments->AddRange(allocation.address(), allocation.bytes, memory, site,
                                                                  mapping, of_graph));
}

uint64_t Ledger::LeaveRange(const LiveAllocation& allocation) {
  const DeviceIndex device = sites_.sites()[allocation.site].key.device;
  for (Scope& scope : scopes_) {
    if (scope.level != Level::kFramework || scope.device != device) continue;
    const Segments::Range gone = scope.segments->RemoveRange(allocation.address());
    if (has_graph_pools_) CountForGraphs(scope.segments);
    if (gone.counted == 0) return 0;
    Site& site = sites_.sites()[gone.site];
    if (site.peak_epoch != scope.peak_epoch) site.NotePeak(scope.peak_epoch);
    site.segment_bytes -= gone.counted;
    ReportSegments(gone.site);
    return gone.counted;
  }
  return 0;
}

void Ledger::PlaceBlock(const LiveAllocation& allocation) {
  const Scope& scope = scopes_[sites_.sites()[allocation.site].scope];
  if (__builtin_expect(has_graph_pools_, 0) && scope.segments->IsInGraphPool(allocation.address())) {
    ++sites_.sites()[allocation.site].in_graph_pools;
  }
  CountSegments(scope, scope.segments->AddBlock(allocation.address(), allocation.bytes));
}

void Ledger::CountSegments(const Scope& scope, const std::vector<const Segments::Range*>& recognised) {
  for (const Segments::Range* range : recognised) {
    Site& site = sites_.sites()[range->site];
    if (site.peak_epoch != scope.peak_epoch) site.NotePeak(scope.peak_epoch);
    site.segment_bytes += range->counted;
    site.segments += range->counted > 0;
    ReportSegments(range->site);
    if (!range->mapped()) continue;
    // What is only a place for segments goes with them.
    ++sites_.sites()[range->mapping].segments;
    auto space = address_ranges_.upper_bound(range->begin);
    if (space == address_ranges_.begin() || (--space)->second.end <= range->begin) continue;
    if (!std::exchange(space->second.holds_segments, true)) ++sites_.sites()[space->second.site].segments;
  }
  if (__builtin_expect(has_graph_pools_, 0)) CountForGraphs(scope.segments);
}

void Ledger::CountForGraphs(Segments* segments) {
  for (const auto& [site, bytes] : segments->TakeGraphChanges()) {
    sites_.sites()[site].kept_for_graphs += static_cast<uint64_t>(bytes);
    ReportSegments(site);
  }
}

void Ledger::ReportSegments(SiteIndex site) {
  for (ReplayObserver* observer : options_.observers) observer->OnSegments(site);
}

FrameworkShare Ledger::ShareOf(const Scope& framework) const {
  const Scope& driver = scopes_[framework.other_level];
  const Segments& segments = *framework.segments;
  const uint64_t known = segments.placed() + framework.folded;
  FrameworkShare share;
  share.unplaced = framework.live > known ? framework.live - known : 0;
  uint64_t reserved = segments.counted() + share.unplaced;
  share.others = driver.live > segments.counted() ? driver.live - segments.counted() : 0;
  if (framework.by_handle) {
    const uint64_t within = std::min(share.others, share.unplaced);
    share.others -= within;
    share.unplaced -= within;
  }
  if (framework.live > reserved) {
    // Blocks of the past whose addresses are not kept lie in segments that no other block has shown to be some.
    share.others -= std::min(share.others, framework.live - reserved);
    reserved = framework.live;
  }
  share.cached = reserved - framework.live;
  share.releasable = std::min(share.cached, segments.releasable());
  const uint64_t pages = driver.pages.reserved();
  share.overhead = pages > driver.live ? pages - driver.live : 0;
  share.unattributed = driver.outside > share.unplaced ? driver.outside - share.unplaced : 0;
  return share;
}

// What a scope's steps are measured by. A job runs out of memory by its blocks and by what others hold; what its
// allocator keeps is there to be used, but for what is kept for a CUDA graph.
uint64_t Ledger::LevelOfScope(const Scope& scope) const {
  if (scope.segments == nullptr || scope.level != Level::kFramework) return scope.live;
  const Scope& driver = scopes_[scope.other_level];
  return scope.live + scope.segments->kept_by_graphs() +
         (driver.live > scope.segments->counted() ? driver.live - scope.segments->counted() : 0);
}

void Ledger::NoteLevel(Scope* scope) {
  const uint64_t level = LevelOfScope(*scope);
  scope->floor = std::min(scope->floor, level);
  scope->ceiling = std::max(scope->ceiling, level);
  if (scope->segments == nullptr) return;
  if (scope->level != Level::kFramework) return NoteLevel(&scopes_[scope->other_level]);
  if (scope->segments->counted() > scope->reserved_peak) {
    scope->reserved_peak = scope->segments->counted();
    scope->reserved_peak_change = scope->changes;
  }
  scope->reserved_floor = std::min(scope->reserved_floor, scope->segments->counted());
  scope->live_floor = std::min(scope->live_floor, scope->live);
}

Ledger::Levels Ledger::LevelsOfFramework(const Scope& scope) const {
  const Scope& framework = scope.level == Level::kFramework ? scope : scopes_[scope.other_level];
  const FrameworkShare share = ShareOf(framework);
  const uint64_t reserved = framework.live + share.cached;
  return {share.UsedOnDevice(reserved), reserved, framework.live};
}

}  // namespace vramtrack
