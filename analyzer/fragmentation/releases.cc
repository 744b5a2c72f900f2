// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/releases.h"

#include <algorithm>

#include "analyzer/ledger/kind.h"

namespace vramtrack {

void ReleaseLog::OnOtherEvent(const StreamEvent& event) {
  if (event.operation != schema::MARK || event.shape->kind != schema::MARK_RELEASE || event.past) {
    const auto found = calls_.find(event.slot);
    if (found != calls_.end() && found->second.open && found->second.next == 0) found->second.next = event.time;
    return;
  }
  Call& call = calls_[event.slot];
  call.last_stack = trace_.definitions().stacks.Distinct(event.shape->ref);
  // A call frees from several places within itself: its first one names it.
  if (!call.open || call.stack == kEmptyStack) call.stack = call.last_stack;
  if (!call.open) Open(event, &call);
}

void ReleaseLog::Freed(const ReplayAllocation& freed) {
  // What a device's reset takes away nobody has given back.
  const StreamEvent* event = ledger_->present_event();
  if (event == nullptr || event->operation != schema::FREE) return;
  if (LevelOf(freed.site.key.kind) == Level::kFramework) return Close(event->slot, event->time);
  if (freed.segment_bytes == 0) return;
  Call& call = calls_[event->slot];
  if (!call.open) {
    Open(*event, &call);
    call.stack = call.last_stack;  // the mark is not repeated for the same place
  }
  call.last = event->time;
  // What came in between was part of the call.
  call.next = 0;
  ++call.segments;
  call.bytes += freed.segment_bytes;
}

void ReleaseLog::Open(const StreamEvent& event, Call* call) {
  ++open_;
  call->open = true;
  call->step = ledger_->steps().step();
  call->ticks = ledger_->last_ticks();
  call->first = call->last = event.time;
  call->next = 0;
}

void ReleaseLog::Close(ThreadSlot slot, uint64_t next) {
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
    if (call.next == 0) call.next = next;
    if (call.next != 0) {
      ++releases.timed;
      releases.ticks_at_least += call.last - call.first;
      releases.ticks_at_most += call.next - call.first;
    }
    if (releases.times.size() < Releases::kMaxTimes) releases.times.push_back({call.step, call.ticks, call.bytes});
  }
  call.open = false;
  call.segments = call.bytes = 0;
  call.stack = kEmptyStack;
}

void ReleaseLog::OnEnd() {
  for (const auto& [slot, call] : calls_) Close(slot, 0);
}

}  // namespace vramtrack
