// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/site_replay.h"

#include <utility>

namespace vramtrack {

SiteReplay::SiteReplay(const Trace& trace, StepPlan plan, LedgerOptions options)
    : timeline_(trace),
      failures_(trace),
      phases_(trace),
      ledger_(trace, std::move(plan), WithObservers(trace, std::move(options))) {}

LedgerOptions SiteReplay::WithObservers(const Trace& trace, LedgerOptions options) {
  options.observers = {&histories_, &order_, &timeline_, &failures_};
  // Only a framework that reports its blocks reports its backward passes and optimizers.
  if (trace.framework_devices() != 0) options.observers.insert(options.observers.end(), {&framework_check_, &phases_});
  return options;
}

void SiteReplay::Replay() {
  before_ = ledger_.events();
  ledger_.Replay();
}

bool SiteReplay::Continue(StepPlan plan) {
  return plan.has_steps() && !plan.has_windows() && ledger_.Continue(std::move(plan));
}

}  // namespace vramtrack
