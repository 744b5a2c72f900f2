// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/fragmentation_collectors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {
namespace {

// Describes where a framework's allocator released segments: in a call of empty_cache(), or in its attempt to find room
// before it fails. Groups the frees of segments that one call made. The call has returned when its thread allocates or
// frees anything else. Only for a trace with a framework's level.
class ReleaseFindings final : public Collector, public ReplayObserver {
 public:
  explicit ReleaseFindings(ProcessAnalysis* analysis) : analysis_(*analysis) {}

  const char* name() const override { return "released memory"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(this); }

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    const double ticks_per_second = analysis_.trace().clock().ticks_per_second();
    for (auto& [stack, place] : by_stack_) {
      place.report.seconds_at_least = static_cast<double>(place.ticks_at_least) / ticks_per_second;
      place.report.seconds_at_most = static_cast<double>(place.ticks_at_most) / ticks_per_second;
      place.report.stack = analysis_.shown().Frames(stack);
      findings->releases.push_back(std::move(place.report));
    }
  }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& /*allocated*/) override {
    const StreamEvent* event = ledger_->present_event();
    if (__builtin_expect(open_ > 0, 0) && event != nullptr) Close(event->slot, event->time);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (__builtin_expect(open_ > 0 || freed.segment_bytes > 0, 0)) Freed(freed);
  }

  void OnOtherEvent(const StreamEvent& event) override {
    if (event.operation != schema::MARK || event.shape->kind != schema::MARK_RELEASE || event.past) {
      const auto found = calls_.find(event.slot);
      if (found != calls_.end() && found->second.open && found->second.next == 0) found->second.next = event.time;
      return;
    }
    Call& call = calls_[event.slot];
    call.last_stack = analysis_.trace().definitions().stacks.Distinct(event.shape->ref);
    // A call frees from several places within itself: its first one names it.
    if (!call.open || call.stack == kEmptyStack) call.stack = call.last_stack;
    if (!call.open) Open(event, &call);
  }

  void OnEnd() override {
    for (const auto& [slot, call] : calls_) Close(slot, 0);
  }

 private:
  static constexpr size_t kMaxTimes = 1000;

  struct Call {
    bool open = false;
    StackIndex stack = kEmptyStack, last_stack = kEmptyStack;
    uint64_t segments = 0, bytes = 0;
    uint32_t step = 0;  // the step in which the call began
    uint64_t ticks = 0;
    // Times of the thread's events: the first and the last of the call, and the next one after it; 0 if there is none
    // yet.
    uint64_t first = 0, last = 0, next = 0;
  };
  struct Place {
    ReportRelease report;
    uint64_t ticks_at_least = 0, ticks_at_most = 0;  // of all calls that are timed
  };

  void Freed(const ReplayAllocation& freed) {
    // What a device's reset takes away was not released.
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

  void Open(const StreamEvent& event, Call* call) {
    ++open_;
    call->open = true;
    call->step = ledger_->steps().step();
    call->ticks = ledger_->last_ticks();
    call->first = call->last = event.time;
    call->next = 0;
  }

  // `next`: the time of the thread's next event; 0 if there is none.
  void Close(ThreadSlot slot, uint64_t next) {
    const auto found = calls_.find(slot);
    if (found == calls_.end() || !found->second.open) return;
    --open_;
    Call& call = found->second;
    if (call.segments > 0) {
      Place& place = by_stack_[call.stack];
      ReportRelease& report = place.report;
      report.least = report.calls == 0 ? call.bytes : std::min(report.least, call.bytes);
      report.most = std::max(report.most, call.bytes);
      ++report.calls;
      report.segments += call.segments;
      report.bytes += call.bytes;
      // A free is recorded before it is made, so the last free of a call ended between its own record and that of the
      // thread's next event.
      if (call.next == 0) call.next = next;
      if (call.next != 0) {
        ++report.timed;
        place.ticks_at_least += call.last - call.first;
        place.ticks_at_most += call.next - call.first;
      }
      if (report.times.size() < kMaxTimes) {
        report.times.push_back(
            {ReportedStep(analysis_.run(), call.step), analysis_.trace().clock().Seconds(call.ticks), call.bytes});
      }
    }
    call.open = false;
    call.segments = call.bytes = 0;
    call.stack = kEmptyStack;
  }

  ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::map<ThreadSlot, Call> calls_;
  std::map<StackIndex, Place> by_stack_;
  uint32_t open_ = 0;
};

}  // namespace

std::unique_ptr<Collector> MakeReleaseFindings(ProcessAnalysis* analysis) {
  return std::make_unique<ReleaseFindings>(analysis);
}

}  // namespace vramtrack
