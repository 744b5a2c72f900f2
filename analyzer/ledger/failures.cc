// SPDX-License-Identifier: Apache-2.0
//
// Allocations that fail for lack of memory. A framework's allocator whose cudaMalloc fails gives back what it keeps and
// tries again; only when that is in vain as well has the job run out of memory, and then it is one failure, not three.
#include <algorithm>

#include "analyzer/ledger/ledger.h"

namespace vramtrack {
namespace {

constexpr uint64_t kErrorOutOfMemory = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY

bool IsOutOfMemory(uint32_t kind, uint64_t error) {
  return error == kErrorOutOfMemory && LevelOf(kind) != Level::kHandle && !IsHostMemory(kind);
}

}  // namespace

// What the past keeps as mere counts.
void Ledger::CountPast() {
  const Checkpoint* past = trace_.past();
  if (past == nullptr) return;
  unknown_frees_ += past->unknown_frees;
  uint64_t failed = 0, kept = 0;
  for (const Checkpoint::Failure& failure : past->failures) {
    if (IsOutOfMemory(failure.kind, failure.error)) failed += failure.count;
  }
  for (const Checkpoint::Failure& failure : past->kept_failures) kept += IsOutOfMemory(failure.kind, failure.error);
  out_of_memory_count_ += failed > kept ? failed - kept : 0;
}

void Ledger::Fail(const StreamEvent& event) {
  const uint32_t kind = event.shape->kind;
  if (!IsOutOfMemory(kind, event.value[0])) return;
  const bool of_framework = LevelOf(kind) == Level::kFramework;
  OutOfMemory failed;
  failed.step = clock_.step();
  failed.ticks = event.time;
  failed.device = std::min(event.shape->device, SiteKey::kMaxDevice);
  failed.stack = trace_.definitions().stacks.Distinct(event.shape->ref);
  failed.requested = event.shape->bytes;
  const Scope& driver = scopes_[ScopeOf(Level::kDriver, failed.device)];
  failed.usage = driver.pages.usage();
  failed.outside = driver.outside;
  FindHolders(driver, &failed);
  if (driver.segments != nullptr) {
    failed.framework = FrameworkAt(scopes_[driver.other_level]);
    failed.framework->failed = of_framework;
    if (of_framework && told_.slot == event.slot && told_.device == failed.device) {
      failed.framework->live = told_.given_out;
      failed.framework->reserved = told_.reserved;
    }
  }
  const auto pending = pending_failures_.find(event.slot);
  if (of_framework) {
    // What the driver refused just before was for this.
    if (pending != pending_failures_.end() && pending->second.second.device == failed.device) {
      pending_failures_.erase(pending);
    }
    AddOutOfMemory(std::move(failed));
  } else if (driver.segments == nullptr) {
    AddOutOfMemory(std::move(failed));
  } else if (pending == pending_failures_.end()) {
    pending_failures_.emplace(event.slot, std::make_pair(kind, std::move(failed)));
  } else {
    const OutOfMemory& before = pending->second.second;
    if (pending->second.first != kind || before.requested != failed.requested || before.device != failed.device) {
      AddOutOfMemory(std::move(pending->second.second));
    }
    pending->second = {kind, std::move(failed)};
  }
}

// The same request was granted at last.
void Ledger::ForgetRetry(const StreamEvent& event) {
  const auto pending = pending_failures_.find(event.slot);
  if (pending == pending_failures_.end() || pending->second.first != event.shape->kind ||
      pending->second.second.requested != event.shape->bytes) {
    return;
  }
  pending_failures_.erase(pending);
}

void Ledger::SettleFailures() {
  for (auto& [slot, pending] : pending_failures_) AddOutOfMemory(std::move(pending.second));
  pending_failures_.clear();
}

void Ledger::AddOutOfMemory(OutOfMemory failed) {
  ++out_of_memory_count_;
  // The first ones show how it began, the last one ended the job.
  if (out_of_memory_.size() == kMaxOutOfMemory) out_of_memory_.erase(out_of_memory_.begin() + kMaxOutOfMemory / 2);
  const auto place = std::upper_bound(out_of_memory_.begin(), out_of_memory_.end(), failed,
                                      [](const OutOfMemory& a, const OutOfMemory& b) { return a.ticks < b.ticks; });
  out_of_memory_.insert(place, std::move(failed));
}

void Ledger::FindHolders(const Scope& driver, OutOfMemory* failed) const {
  const std::vector<Site>& sites = sites_.sites();
  for (uint32_t i = 0; i < sites.size(); ++i) {
    const uint64_t held = sites[i].live_bytes - sites[i].segment_bytes;  // segments are held by what lies in them
    if (held == 0 || sites[i].scope == Site::kNoScope) continue;
    const Scope& scope = scopes_[sites[i].scope];
    if (&scope != &driver && (driver.segments == nullptr || scope.segments != driver.segments)) continue;
    failed->holders.push_back({i, held});
  }
  std::sort(failed->holders.begin(), failed->holders.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (failed->holders.size() > kMaxHolders) failed->holders.resize(kMaxHolders);
}

OutOfMemory::Framework Ledger::FrameworkAt(const Scope& framework) const {
  OutOfMemory::Framework at;
  at.live = framework.live;
  at.reserved = framework.live + ShareOf(framework).cached;
  std::vector<std::pair<uint64_t, uint64_t>> blocks;
  live_.ForEach([&](const LiveAllocation& allocation) {
    const Site& site = sites_.sites()[allocation.site];
    if (LevelOf(site.key.kind) == Level::kFramework && allocation.device == framework.device) {
      blocks.emplace_back(allocation.address, allocation.bytes);
    }
  });
  std::sort(blocks.begin(), blocks.end());
  const Segments::Holes holes = framework.segments->LargestHoles(blocks);
  at.largest_hole = holes.any;
  if (!holes.mapped) {
    at.small_hole = holes.small;
    at.large_hole = holes.large;
  }
  return at;
}

}  // namespace vramtrack
