// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_RELEASES_H_
#define ANALYZER_FRAGMENTATION_RELEASES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Segments that a framework's allocator released from one place: a call of empty_cache(), or its attempt to find room
// before it fails.
struct Releases {
  uint64_t calls = 0, segments = 0, bytes = 0;
  uint64_t least = UINT64_MAX, most = 0;  // bytes released by one call
  // The time that `timed` calls took. A free is recorded before it is made, so the last free of a call ended between
  // its own record and that of the thread's next event. A call without a next event is not timed.
  uint64_t timed = 0, ticks_at_least = 0, ticks_at_most = 0;
  struct Call {
    uint32_t step = 0;
    uint64_t ticks = 0, bytes = 0;
  };
  static constexpr size_t kMaxTimes = 1000;
  std::vector<Call> times;  // the first calls
};

// Groups the frees of segments that one call made. The call has returned when its thread allocates or frees anything
// else. Follows the replay of a trace with a framework's level. Thread-compatible.
class ReleaseLog final : public ReplayObserver {
 public:
  // `trace` must outlive it.
  explicit ReleaseLog(const Trace& trace) : trace_(trace) {}

  const std::map<StackIndex, Releases>& by_stack() const { return by_stack_; }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& /*allocated*/) override {
    const StreamEvent* event = ledger_->present_event();
    if (__builtin_expect(open_ > 0, 0) && event != nullptr) Close(event->slot, event->time);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (__builtin_expect(open_ > 0 || freed.segment_bytes > 0, 0)) Freed(freed);
  }
  void OnOtherEvent(const StreamEvent& event) override;
  void OnEnd() override;

 private:
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

  void Freed(const ReplayAllocation& freed);
  void Open(const StreamEvent& event, Call* call);
  // `next`: the time of the thread's next event; 0 if there is none.
  void Close(ThreadSlot slot, uint64_t next);

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::map<ThreadSlot, Call> calls_;
  std::map<StackIndex, Releases> by_stack_;
  uint32_t open_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_RELEASES_H_
