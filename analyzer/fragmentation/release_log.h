// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_RELEASE_LOG_H_
#define ANALYZER_FRAGMENTATION_RELEASE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// What a framework's allocator gave back from one place: calls of empty_cache(), or what it does before it gives up.
struct Releases {
  uint64_t calls = 0, segments = 0, bytes = 0;
  uint64_t least = UINT64_MAX, most = 0;  // bytes of one call
  // The time of `timed` calls. A free is recorded before it is made, so the last one of a call ended at some time
  // between its own record and that of the thread's next event. What is not followed by another event is not timed.
  uint64_t timed = 0, ticks_at_least = 0, ticks_at_most = 0;
  struct Call {
    uint32_t step = 0;
    uint64_t ticks = 0, bytes = 0;
  };
  static constexpr size_t kMaxTimes = 1000;
  std::vector<Call> times;  // the first ones
};

// Puts the frees of segments together that one call made. A thread that allocates or frees anything else has returned
// from it. To follow the replay of a trace with a framework's level. Thread-compatible.
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
    uint32_t step = 0;  // when it began
    uint64_t ticks = 0;
    // Of the thread's events: the first and the last of the call, and the next one after it; 0: there is none yet.
    uint64_t first = 0, last = 0, next = 0;
  };

  void Freed(const ReplayAllocation& freed);
  void Open(const StreamEvent& event, Call* call);
  // `next`: when the thread's next event was; 0: there is none.
  void Close(ThreadSlot slot, uint64_t next);

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::map<ThreadSlot, Call> calls_;
  std::map<StackIndex, Releases> by_stack_;
  uint32_t open_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_RELEASE_LOG_H_
