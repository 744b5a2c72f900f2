// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/site_replay.h"

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

}  // namespace vramtrack
