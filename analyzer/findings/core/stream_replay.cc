// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/stream_replay.h"

#include <utility>

namespace vramtrack {

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
