// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_TIMELINE_BINS_H_
#define ANALYZER_PEAKS_TIMELINE_BINS_H_

#include <cstddef>
#include <cstdint>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/timeline.h"

namespace vramtrack {

// Returns whether a report's timeline shows the scope.
inline bool IsOnTimeline(const Scope& scope) { return scope.is_leading() || scope.device == kHost; }

// Finds the bins of the first replay's timeline in a second replay. Thread-compatible.
class TimelineBins {
 public:
  // `first`: the timeline of the first replay, which is complete.
  explicit TimelineBins(const LevelTimeline& first)
      : in_steps_(first.in_steps()),
        width_(first.bin_width()),
        start_ticks_(first.start_ticks()),
        count_(first.size()),
        end_(width_) {}

  size_t present() const { return present_; }
  size_t count() const { return count_; }  // number of bins of the first replay

  // Returns true if a new bin begins. Call it before each change; call FollowStepEnd at the end of each step.
  bool FollowTime(const Ledger& ledger) {
    if (in_steps_) return false;
    const uint64_t now = ledger.last_ticks();
    return MoveTo(now > start_ticks_ ? now - start_ticks_ : 0);
  }
  bool FollowStepEnd(uint32_t step) { return in_steps_ && MoveTo(uint64_t{step} + 1); }

 private:
  bool MoveTo(uint64_t position) {
    if (position < end_) return false;
    present_ = position / width_;
    end_ = (present_ + 1) * width_;
    return true;
  }

  const bool in_steps_;
  const uint64_t width_, start_ticks_;
  const size_t count_;
  size_t present_ = 0;
  uint64_t end_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_TIMELINE_BINS_H_
