// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_RELEASE_LOG_H_
#define ANALYZER_LEDGER_RELEASE_LOG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

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
// from it. Thread-compatible.
class ReleaseLog {
 public:
  // A MARK_RELEASE event, or the free of a segment, in the step of this index. `stack`: distinct.
  void OnMark(uint32_t slot, uint32_t stack, uint32_t step, uint64_t ticks) {
    Call& call = calls_[slot];
    call.last_stack = stack;
    // A call frees from several places within itself: its first one names it.
    if (!call.open || call.stack == 0) call.stack = stack;
    if (!call.open) Open(step, ticks, &call);
  }
  void OnSegment(uint32_t slot, uint64_t bytes, uint32_t step, uint64_t ticks) {
    Call& call = calls_[slot];
    if (!call.open) {
      Open(step, ticks, &call);
      call.stack = call.last_stack;  // the mark is not repeated for the same place
    }
    ++call.segments;
    call.bytes += bytes;
  }
  bool any_open() const { return open_ > 0; }
  void Close(uint32_t slot) {
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
    call.stack = 0;
  }
  void CloseAll() {
    for (const auto& entry : std::map<uint32_t, Call>(calls_)) Close(entry.first);
  }

  const std::map<uint32_t, Releases>& by_stack() const { return by_stack_; }

 private:
  struct Call {
    bool open = false;
    uint32_t stack = 0, last_stack = 0;
    uint64_t segments = 0, bytes = 0;
    uint32_t step = 0;  // when it began
    uint64_t ticks = 0;
  };

  void Open(uint32_t step, uint64_t ticks, Call* call) {
    ++open_;
    call->open = true;
    call->step = step;
    call->ticks = ticks;
  }

  std::map<uint32_t, Call> calls_;  // by slot
  std::map<uint32_t, Releases> by_stack_;
  uint32_t open_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_RELEASE_LOG_H_
