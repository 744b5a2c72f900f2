// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/replays.h"

#include <utility>

namespace vramtrack {

SiteReplay::SiteReplay(const Trace& trace, StepPlan plan, LedgerOptions options)
    : trace_(trace),
      walks_(trace),
      walk_frames_(trace.holder_walks().size()),
      timeline_(trace),
      failures_(trace),
      phases_(trace),
      walked_blocks_(walks_),
      ledger_(trace, std::move(plan), WithObservers(std::move(options))) {}

LedgerOptions SiteReplay::WithObservers(LedgerOptions options) {
  options.observers = {&histories_, &growth_, &order_, &gathered_, &timeline_, &failures_};
  // Only a framework that reports its blocks reports its backward passes and optimizers.
  if (trace_.framework_devices() != 0) options.observers.insert(options.observers.end(), {&framework_check_, &phases_});
  if (!walks_.all().empty()) options.observers.push_back(&walked_blocks_);
  return options;
}

void SiteReplay::Replay() {
  before_ = ledger_.events();
  ledger_.Replay();
}

bool SiteReplay::Continue(StepPlan plan) {
  return plan.has_steps() && !plan.has_windows() && trace_.holder_walks().size() == walk_frames_ &&
         walked_blocks_.settled() && ledger_.Continue(std::move(plan));
}

void StreamReplay::GapsObserver::OnAllocate(const ReplayAllocation& allocated) {
  if (ledger_->present_event()->past) return;
  gaps_.OnEvent(allocated.allocation.site.value(), LiveBefore(allocated));
}

// What the device holds between two steps shows where one ends, whatever is allocated there.
uint64_t StreamReplay::GapsObserver::LiveBefore(const ReplayAllocation& allocated) const {
  for (const Scope& driver : ledger_->scopes()) {
    if (driver.level != Level::kDriver || driver.device != allocated.allocation.device()) continue;
    const Scope& leading = driver.is_leading() ? driver : ledger_->scopes()[driver.other_level];
    return leading.live - (&leading == allocated.scope ? allocated.allocation.bytes : 0);
  }
  return 0;
}

StreamReplay::StreamReplay(const Trace& trace, LedgerOptions options)
    : ledger_(trace, StepPlan(), WithObserver(std::move(options))) {}

LedgerOptions StreamReplay::WithObserver(LedgerOptions options) {
  options.unseen_sites_only = true;
  options.observers = {&gaps_};
  return options;
}

void StreamReplay::Replay() {
  before_ = ledger_.events();
  ledger_.Replay();
}

}  // namespace vramtrack
