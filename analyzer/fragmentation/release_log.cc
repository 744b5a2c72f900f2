// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/release_log.h"

#include <algorithm>

#include "analyzer/ledger/kind.h"

namespace vramtrack {

void ReleaseLog::OnOtherEvent(const StreamEvent& event) {
  if (event.operation != schema::MARK || event.shape->kind != schema::MARK_RELEASE || event.past) return;
  Call& call = calls_[event.slot];
  call.last_stack = trace_.definitions().stacks.Distinct(event.shape->ref);
  // A call frees from several places within itself: its first one names it.
  if (!call.open || call.stack == kEmptyStack) call.stack = call.last_stack;
  if (!call.open) Open(&call);
}

void ReleaseLog::Freed(const ReplayAllocation& freed) {
  // What a device's reset takes away nobody has given back.
  const StreamEvent* event = ledger_->present_event();
  if (event == nullptr || event->operation != schema::FREE) return;
  if (LevelOf(freed.site.key.kind) == Level::kFramework) return Close(event->slot);
  if (freed.segment_bytes == 0) return;
  Call& call = calls_[event->slot];
  if (!call.open) {
    Open(&call);
    call.stack = call.last_stack;  // the mark is not repeated for the same place
  }
  ++call.segments;
  call.bytes += freed.segment_bytes;
}

void ReleaseLog::Open(Call* call) {
  ++open_;
  call->open = true;
  call->step = ledger_->steps().step();
  call->ticks = ledger_->last_ticks();
}

void ReleaseLog::Close(ThreadSlot slot) {
  const auto found = calls_.find(slot);
  if (found == calls_.end() || !found->second.open) return;
  --open_;
  Call& call = found->second;
  if (call.segments > 0) {
    Releases& releases = by_stack_[call.stack];
    ++releases.calls;
    releases.segments += call.segments;
    releases.bytes += call.bytes;
    releases.least = std::min(releases.least, call.bytes);
    releases.most = std::max(releases.most, call.bytes);
    if (releases.times.size() < Releases::kMaxTimes) releases.times.push_back({call.step, call.ticks, call.bytes});
  }
  call.open = false;
  call.segments = call.bytes = 0;
  call.stack = kEmptyStack;
}

void ReleaseLog::OnEnd() {
  for (const auto& [slot, call] : calls_) Close(slot);
}

}  // namespace vramtrack
