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
    if (__builtin_expect(open_ > 0, 0) && event != nullptr) Close(event->slot);
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
  };

  void Freed(const ReplayAllocation& freed);
  void Open(Call* call);
  void Close(ThreadSlot slot);

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::map<ThreadSlot, Call> calls_;
  std::map<StackIndex, Releases> by_stack_;
  uint32_t open_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_RELEASE_LOG_H_
