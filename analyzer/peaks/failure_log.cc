// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/failure_log.h"

#include <algorithm>

#include "analyzer/ledger/kind.h"

namespace vramtrack {

// What the past keeps as mere counts.
void FailureLog::OnBegin(const Ledger& ledger) {
  ledger_ = &ledger;
  const Checkpoint* past = trace_.past();
  if (past == nullptr) return;
  uint64_t failed = 0, kept = 0;
  for (const CheckpointRecord& record : past->records) {
    if (record.operation != schema::FAIL || !IsOutOfMemory(static_cast<uint32_t>(record.kind), record.value)) continue;
    failed += record.count;
    kept += record.field == schema::checkpoint_field::kept_failures;
  }
  sure_.count = failed > kept ? failed - kept : 0;
}

const Scope* FailureLog::ScopeOf(Level level, DeviceIndex device) const {
  for (const Scope& scope : ledger_->scopes()) {
    if (scope.level == level && scope.device == device) return &scope;
  }
  return nullptr;
}

void FailureLog::OnOtherEvent(const StreamEvent& event) {
  if (event.operation == schema::FAIL) Fail(event);
  if (event.operation != schema::FRAMEWORK_MEMORY || event.past) return;
  if (ScopeOf(Level::kFramework, DeviceIndex(event.shape->device)) == nullptr) return;
  reported_ = {event.slot, DeviceIndex(event.shape->device), event.value[0], event.value[1]};
}

void FailureLog::Fail(const StreamEvent& event) {
  const uint32_t kind = event.shape->kind;
  if (!IsOutOfMemory(kind, event.value[0])) return;
  const bool of_framework = LevelOf(kind) == Level::kFramework;
  OutOfMemory failed;
  failed.step = ledger_->steps().step();
  failed.ticks = event.time;
  failed.allocations = allocations_;
  failed.device = event.device();
  failed.stack = trace_.definitions().stacks.Distinct(event.shape->ref);
  failed.requested = event.shape->bytes;
  const Scope& driver = *ScopeOf(Level::kDriver, failed.device);
  failed.usage = driver.pages.usage();
  failed.outside = driver.outside;
  FindHolders(driver, &failed);
  if (driver.segments != nullptr) {
    failed.framework = FrameworkAt(ledger_->scopes()[driver.other_level]);
    failed.framework->failed = of_framework;
    if (of_framework && reported_.slot == event.slot && reported_.device == failed.device) {
      failed.framework->live = reported_.given_out;
      failed.framework->reserved = reported_.reserved;
    }
  }
  const auto pending = pending_.find(event.slot);
  if (of_framework) {
    // What the driver refused just before was for this.
    if (pending != pending_.end() && pending->second.second.device == failed.device) {
      pending_.erase(pending);
    }
    sure_.Add(std::move(failed));
  } else if (driver.segments == nullptr) {
    sure_.Add(std::move(failed));
  } else if (pending == pending_.end()) {
    pending_.emplace(event.slot, std::make_pair(kind, std::move(failed)));
  } else {
    const OutOfMemory& before = pending->second.second;
    if (pending->second.first != kind || before.requested != failed.requested || before.device != failed.device) {
      sure_.Add(std::move(pending->second.second));
    }
    pending->second = {kind, std::move(failed)};
  }
}

// The same request was granted at last.
void FailureLog::ForgetRetry(const StreamEvent* event) {
  if (event == nullptr) return;  // seen by CUPTI only: nobody's call
  const auto pending = pending_.find(event->slot);
  if (pending == pending_.end() || pending->second.first != event->shape->kind ||
      pending->second.second.requested != event->shape->bytes) {
    return;
  }
  pending_.erase(pending);
}

void FailureLog::OnEnd() {
  all_ = sure_;
  for (const auto& [slot, pending] : pending_) all_.Add(pending.second);
}

void FailureLog::Failures::Add(OutOfMemory failed) {
  ++count;
  // The first ones show how it began, the last one ended the job.
  if (failures.size() == kMaxFailures) failures.erase(failures.begin() + kMaxFailures / 2);
  const auto place = std::upper_bound(failures.begin(), failures.end(), failed,
                                      [](const OutOfMemory& a, const OutOfMemory& b) { return a.ticks < b.ticks; });
  failures.insert(place, std::move(failed));
}

void FailureLog::FindHolders(const Scope& driver, OutOfMemory* failed) const {
  const Sites& sites = ledger_->sites();
  for (const SiteIndex i : sites.indices()) {
    const uint64_t held = sites[i].live_bytes - sites[i].segment_bytes;  // segments are held by the blocks in them
    if (held == 0 || sites[i].scope == Site::kNoScope) continue;
    const Scope& scope = ledger_->scopes()[sites[i].scope];
    if (&scope != &driver && (driver.segments == nullptr || scope.segments != driver.segments)) continue;
    failed->holders.push_back({i, held});
  }
  std::sort(failed->holders.begin(), failed->holders.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (failed->holders.size() > kMaxHolders) failed->holders.resize(kMaxHolders);
}

OutOfMemory::Framework FailureLog::FrameworkAt(const Scope& framework) const {
  OutOfMemory::Framework at;
  at.live = framework.live;
  at.reserved = ledger_->LevelsOf(framework).reserved;
  std::vector<std::pair<uint64_t, uint64_t>> blocks;
  ledger_->ForEachBlock(framework.device, [&blocks](const AllocationName&, const LiveAllocation& block) {
    blocks.emplace_back(block.address(), block.bytes);
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
