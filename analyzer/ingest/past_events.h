// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_PAST_EVENTS_H_
#define ANALYZER_INGEST_PAST_EVENTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/stream_event.h"
#include "analyzer/ingest/trace.h"
#include "proto/checkpoint.h"

namespace vramtrack {

// The events that a trace of bounded size has as a checkpoint, by time:
//
//   ALLOCATE        of what was live then: as it was recorded, but for a rounded time
//   FOLD_ALLOCATE   several allocations that were freed, with the time spread over the bin of their birth
//   FOLD_FREE       their frees. Those of one FOLD_ALLOCATE have its `ordinal`. Ordinal 0: freed in the bin of the
//   birth,
//                   and the FOLD_FREE follows at once; nothing is known of how much of that was live at the same time
//   STEP, MARK      as many as there were, the times in between evenly spread
//   MEMORY_INFO, FRAMEWORK_MEMORY, FAIL, FREE, DEVICE_RESET, TRIM, LIMIT   those that were kept
//
// Memory is bounded by what is live, and by a bin. Thread-compatible.
class PastEvents {
 public:
  // Folds are spread over this many events at most.
  static constexpr uint64_t kSpread = 16;

  // `undone`: by index, those of the checkpoint's early frees that did not happen. `trace` must have a past.
  PastEvents(const Trace& trace, const std::vector<bool>& undone);

  // False after the last event; otherwise `front` is the next one.
  bool Ready();
  const StreamEvent& front() const { return bin_events_[next_]; }
  uint64_t time() const { return next_ < bin_events_.size() ? bin_events_[next_].time : last_time_; }
  void Pop();

  // True, with its rank, if the allocation is one of the past and was not delivered yet.
  bool Undelivered(ThreadSlot slot, uint64_t ordinal, uint64_t* rank) const;
  // Whether a free at `time` of an allocation of the past comes too late: its device was reset, which ended it, and the
  // free was told afterwards.
  bool EndedByReset(ThreadSlot slot, uint64_t ordinal, uint64_t time) const {
    return time < latest_reset_ && live_ranks_.count({slot, ordinal}) == 0;
  }
  uint64_t live_delivered() const { return live_delivered_; }

 private:
  // More steps than any job makes: a damaged count must not keep a reader busy for ever.
  static constexpr uint64_t kMaxSteps = 1u << 24;
  static constexpr uint32_t kBins = 256;

  struct Span {
    uint64_t begin, end;  // ticks
  };

  uint32_t AddShape(uint32_t operation, uint32_t kind, uint32_t device, uint32_t stack, uint64_t bytes,
                    uint64_t stream);
  StreamEvent EventOf(uint32_t shape, uint64_t time, ThreadSlot slot);
  void AddSingles(const std::vector<bool>& undone);
  void SortLive();
  Span SpanOf(uint32_t bin) const;
  uint32_t BinOf(uint64_t time) const;
  void FillBin(uint32_t bin);
  void AddBirths(uint32_t fold);
  void AddDeaths(uint32_t fold);
  void AddSteps(const Checkpoint::Steps& steps);
  void AddMarks(uint32_t index);

  const Trace& trace_;
  const Checkpoint& past_;
  std::vector<DecodedShape> shapes_;
  std::vector<uint32_t> notes_;
  uint32_t first_site_shape_ = 0;  // two a site: FOLD_ALLOCATE, FOLD_FREE
  uint32_t step_shape_ = 0, first_mark_shape_ = 0;
  std::vector<uint32_t> live_order_;  // by time
  absl::flat_hash_map<AllocationName, uint64_t> live_ranks_;
  std::vector<StreamEvent> singles_;                                    // what is not spread, by time
  std::vector<std::vector<uint32_t>> births_, deaths_, steps_, marks_;  // by bin: indices
  uint32_t next_bin_ = 0;
  size_t next_live_ = 0, next_single_ = 0, next_ = 0;
  uint64_t live_delivered_ = 0, steps_left_ = kMaxSteps, last_time_ = 0, latest_reset_ = 0;
  std::vector<StreamEvent> bin_events_;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_PAST_EVENTS_H_
