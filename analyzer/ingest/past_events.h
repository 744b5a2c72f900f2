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

// Generates events from the checkpoint of a trace of bounded size, by time:
//
//   ALLOCATE        an allocation that was live at the checkpoint, as recorded, with a rounded time
//   FOLD_ALLOCATE   several allocations that were freed before it; times are spread over the bin of their birth
//   FOLD_FREE       the frees of a FOLD_ALLOCATE, with the same `ordinal`. With ordinal 0 they were freed in the bin of
//                   their birth, and the FOLD_FREE follows at once; how much was live at one time is unknown
//   STEP, MARK      as many as were recorded; times between the known ones are evenly spread
//   MEMORY_INFO, FRAMEWORK_MEMORY, FAIL, FREE, DEVICE_RESET, TRIM, LIMIT   the events that were kept
//
// Memory is bounded by the live allocations and the events of one bin. Thread-compatible.
class PastEvents {
 public:
  // The most events that a fold is spread over.
  static constexpr uint64_t kSpread = 16;

  // `undone`: by index of Checkpoint::records, whether an early free failed. `trace` must have a past and outlive this.
  PastEvents(const Trace& trace, const std::vector<bool>& undone);

  // Prepares the next event for front(). Returns false after the last event.
  bool Ready();
  const StreamEvent& front() const { return bin_events_[next_]; }
  uint64_t time() const { return next_ < bin_events_.size() ? bin_events_[next_].time : last_time_; }
  void Pop();

  // Returns true and sets `*rank` if the allocation belongs to the past and was not delivered yet.
  bool Undelivered(ThreadSlot slot, uint64_t ordinal, uint64_t* rank) const;
  // Returns whether a device reset had already ended an allocation of the past before its free at `time` was recorded.
  bool EndedByReset(ThreadSlot slot, uint64_t ordinal, uint64_t time) const {
    return time < latest_reset_ && live_ranks_.count({slot, ordinal}) == 0;
  }
  uint64_t live_delivered() const { return live_delivered_; }

 private:
  // More steps than any job makes. The limit keeps a damaged count from keeping the reader busy forever.
  static constexpr uint64_t kMaxSteps = 1u << 24;
  static constexpr uint32_t kBins = 256;

  // Steps or marks of one bin. Their number, the first and the last are known; those between are not.
  struct Several {
    const CheckpointRecord* record;
    uint32_t shape;
  };
  struct Span {
    uint64_t begin, end;  // ticks
  };

  uint32_t AddShape(uint32_t operation, uint32_t kind, uint32_t device, uint32_t stack, uint64_t bytes,
                    uint64_t stream);
  StreamEvent EventOf(uint32_t shape, uint64_t time, ThreadSlot slot);
  void AddRecord(const CheckpointRecord& record);
  void AddEarlyFree(const CheckpointRecord& free);
  void SortLive();
  Span SpanOf(uint32_t bin) const;
  uint32_t BinOf(uint64_t time) const;
  void FillBin(uint32_t bin);
  void AddBirths(uint32_t fold);
  void AddDeaths(uint32_t fold);
  void AddFold(uint32_t fold, Span span, bool births);  // the events of either, evenly spread over `span`
  void AddSeveral(const Several& several);

  const Trace& trace_;
  const Checkpoint& past_;
  std::vector<DecodedShape> shapes_;
  std::vector<uint32_t> notes_;
  uint32_t first_site_shape_ = 0;     // each site has two shapes: FOLD_ALLOCATE, FOLD_FREE
  std::vector<uint32_t> live_order_;  // by time
  absl::flat_hash_map<AllocationName, uint64_t> live_ranks_;
  std::vector<StreamEvent> singles_;                    // events that are not spread, by time
  std::vector<std::vector<uint32_t>> births_, deaths_;  // by bin: indices of folds
  std::vector<std::vector<Several>> several_;           // by bin
  uint32_t next_bin_ = 0;
  size_t next_live_ = 0, next_single_ = 0, next_ = 0;
  uint64_t live_delivered_ = 0, steps_left_ = kMaxSteps, last_time_ = 0, latest_reset_ = 0;
  std::vector<StreamEvent> bin_events_;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_PAST_EVENTS_H_
