// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/site_phases.h"

#include "analyzer/attribution/python_file.h"
#include "analyzer/base/affix.h"

namespace vramtrack {

SitePhases::SitePhases(const Trace& trace)
    : trace_(trace),
      next_(trace.threads().size()),
      at_backward_(trace.threads().size()),
      at_optimizer_(trace.threads().size()) {}

SitePhases::Entry& SitePhases::EntryOf(SiteIndex site) {
  sites_.GrowTo(site);
  Entry& entry = sites_[site];
  if (!entry.known) {
    entry.known = true;
    const StackIndex stack = ledger_->sites()[site].key.stack;
    entry.in_backward = trace_.definitions().stacks.Get(stack).node != schema::NODE_NONE;
    entry.counts.after_backward = seen_backward_;
  }
  return entry;
}

void SitePhases::OnAllocate(const ReplayAllocation& allocated) {
  if (!next_.Has(allocated.slot)) return;  // no thread's: it tells nothing of what the job does
  Entry& entry = EntryOf(allocated.allocation.site);
  if (entry.in_backward != in_backward_) {
    in_backward_ = entry.in_backward;
    if (in_backward_) {
      at_backward_ = next_;
      seen_backward_ = true;
    }
  }
  next_[allocated.slot] = allocated.ordinal + 1;
}

void SitePhases::OnFree(const ReplayAllocation& freed) {
  if (!next_.Has(freed.slot)) return;
  Counts& counts = EntryOf(freed.allocation.site).counts;
  ++counts.freed;
  counts.into_backward += freed.ordinal < at_backward_[freed.slot];
  counts.into_optimizer += freed.ordinal < at_optimizer_[freed.slot];
}

bool SitePhases::IsOfOptimizer(StackIndex stack) {
  const auto [found, is_new] = stacks_of_marks_.try_emplace(stack, false);
  if (!is_new) return found->second;
  const Definitions& definitions = trace_.definitions();
  const PythonStackRef python = definitions.stacks.Get(stack).python;
  for (size_t i = 0; i < python.count; ++i) {
    const TracedCode& code = definitions.codes.Get(python.frames[i].code);
    found->second |= IsOptimizerFrame(code.file, UnqualifiedName(code.name));
  }
  return found->second;
}

bool SitePhases::IsNameOfOptimizer(uint32_t name) const {
  const auto defined = trace_.definitions().names.find(name);
  return defined != trace_.definitions().names.end() && StartsWith(defined->second, "Optimizer.step#");
}

void SitePhases::OnOtherEvent(const StreamEvent& event) {
  if (event.operation != schema::MARK || event.shape->kind != schema::MARK_RECORD_FUNCTION) return;
  if (IsNameOfOptimizer(static_cast<uint32_t>(event.value[0])) ||
      IsOfOptimizer(trace_.definitions().stacks.Distinct(event.shape->ref))) {
    at_optimizer_ = next_;
  }
}

}  // namespace vramtrack
