// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/moment_watch.h"

namespace vramtrack {

MomentWatch::MomentWatch(const Ledger& first, const std::vector<OutOfMemory>& failures, ExportOptions::At at,
                         uint32_t step, std::function<void(DeviceIndex device)> come)
    : at_(at), step_(step), come_(std::move(come)) {
  if (at == ExportOptions::At::kOom && !failures.empty()) oom_ticks_ = failures[0].ticks;
  if (at != ExportOptions::At::kPeak) return;
  for (const Scope& scope : first.scopes()) {
    const bool counts = scope.device == kHost ? scope.level == Level::kDriver : scope.is_leading();
    if (counts && scope.peak > 0) awaited_[{scope.level, scope.device}] = scope.peak_change;
  }
}

void MomentWatch::Come() {
  has_come_ = true;
  come_(kAll);
}

void MomentWatch::LookAtPeak(SiteIndex changed) {
  const uint32_t index = ledger_->sites()[changed].scope;
  if (index == Site::kNoScope) return;
  const Scope& scope = ledger_->scopes()[index];
  const auto awaited = awaited_.find({scope.level, scope.device});
  // The change has been counted already.
  if (awaited == awaited_.end() || scope.changes != awaited->second + 1) return;
  awaited_.erase(awaited);
  come_(scope.device);
}

void MomentWatch::LookAtTime() {
  if (oom_ticks_ != UINT64_MAX && !has_come_ && ledger_->last_ticks() >= oom_ticks_) Come();
}

void MomentWatch::OnAllocate(const ReplayAllocation& allocated) {
  LookAtTime();
  if (!awaited_.empty()) LookAtPeak(allocated.allocation.site);
}

void MomentWatch::OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t /*bytes*/, bool born) {
  if (born && !awaited_.empty()) LookAtPeak(site);
}

void MomentWatch::OnStepEnd(uint32_t step) {
  if (at_ == ExportOptions::At::kStep && step == step_) Come();
}

void MomentWatch::Finish() {
  if (at_ != ExportOptions::At::kPeak && !has_come_) Come();
}

}  // namespace vramtrack
