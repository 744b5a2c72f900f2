// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/site_counts.h"

namespace vramtrack {

SiteCounter::SiteCounter(const Ledger& first, ExportOptions::At at, uint32_t step,
                         std::optional<std::pair<uint32_t, uint32_t>> steps)
    : at_(at), step_(step), steps_(std::move(steps)) {
  if (at == ExportOptions::At::kOom && !first.out_of_memory().empty()) oom_ticks_ = first.out_of_memory()[0].ticks;
  if (at != ExportOptions::At::kPeak) return;
  for (const Scope& scope : first.scopes()) {
    const bool counts = scope.device == SiteKey::kHost ? scope.level == Level::kDriver : scope.is_leading();
    if (counts && scope.peak > 0) awaited_[{scope.level, scope.device}] = scope.peak_change;
  }
}

SiteCounts& SiteCounter::Of(uint32_t site) {
  if (site >= counts_.size()) counts_.resize(ledger_->sites().size());
  return counts_[site];
}

void SiteCounter::Take(uint32_t index) {
  const Site& site = ledger_->sites()[index];
  SiteCounts& counts = Of(index);
  counts.inuse_objects = site.live_objects;
  counts.inuse_bytes = site.live_bytes;
  counts.inuse_segment_bytes = site.segment_bytes;
}

void SiteCounter::TakeAll() {
  taken_ = true;
  for (uint32_t i = 0; i < ledger_->sites().size(); ++i) Take(i);
}

void SiteCounter::TakePeak(uint32_t changed) {
  const uint32_t index = ledger_->sites()[changed].scope;
  if (index == Site::kNoScope) return;
  const Scope& scope = ledger_->scopes()[index];
  const auto awaited = awaited_.find({scope.level, scope.device});
  // The change has been counted already.
  if (awaited == awaited_.end() || scope.changes != awaited->second + 1) return;
  awaited_.erase(awaited);
  // What is on the device, or the host, of every level.
  for (uint32_t i = 0; i < ledger_->sites().size(); ++i) {
    if (ledger_->sites()[i].key.device == scope.device) Take(i);
  }
}

void SiteCounter::LookAtTime() {
  if (oom_ticks_ != UINT64_MAX && !taken_ && ledger_->last_ticks() >= oom_ticks_) TakeAll();
}

void SiteCounter::CountAllocated(uint32_t site, uint64_t objects, uint64_t bytes) {
  const uint32_t step = ledger_->steps().step();
  if (steps_ && (step < steps_->first || step > steps_->second)) return;
  SiteCounts& counts = Of(site);
  counts.alloc_objects += objects;
  counts.alloc_bytes += bytes;
}

void SiteCounter::OnAllocate(const ReplayAllocation& allocated) {
  LookAtTime();
  CountAllocated(allocated.allocation.site, 1, allocated.allocation.bytes);
  if (!awaited_.empty()) TakePeak(allocated.allocation.site);
}

void SiteCounter::OnFree(const ReplayAllocation& /*freed*/) { LookAtTime(); }

void SiteCounter::OnFold(uint32_t site, uint64_t objects, uint64_t bytes, bool born) {
  if (!born) return;
  CountAllocated(site, objects, bytes);
  if (!awaited_.empty()) TakePeak(site);
}

void SiteCounter::OnStepEnd(uint32_t step) {
  if (at_ == ExportOptions::At::kStep && step == step_) TakeAll();
}

void SiteCounter::OnOtherEvent(const StreamEvent& /*event*/) { LookAtTime(); }

std::vector<SiteCounts> SiteCounter::Finish() {
  // A job's last step may not be complete; a failure may be the last event.
  if (at_ != ExportOptions::At::kPeak && !taken_) TakeAll();
  counts_.resize(ledger_->sites().size());
  return std::move(counts_);
}

}  // namespace vramtrack
