// SPDX-License-Identifier: Apache-2.0
//
// Summarizes the order of a run's allocations and frees in a few numbers, to find out whether two runs are the same
// and where they diverge.
#ifndef ANALYZER_PROFILE_EVENT_SEQUENCE_H_
#define ANALYZER_PROFILE_EVENT_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/profile/step_meter.h"

namespace vramtrack {

// Hashes of prefixes of a sequence. Their number is bounded: when there are too many, every other one is dropped.
// Thread-compatible.
class EventSequence {
 public:
  void Add(uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15;
    hash_ ^= hash_ >> 29;
    sum_ += word * 0xbf58476d1ce4e5b9;
    if (++count_ == next_) Sample();
  }

  uint64_t count() const { return count_; }
  uint64_t hash() const { return hash_; }
  bool SameAs(const EventSequence& other) const { return count_ == other.count_ && hash_ == other.hash_; }
  // Returns whether both have the same events, in any order.
  bool SameEventsAs(const EventSequence& other) const { return count_ == other.count_ && sum_ == other.sum_; }

  // Returns two numbers of events: the sequences are the same for at least the first number, and diverge, or one of
  // them ends, before the second.
  static std::pair<uint64_t, uint64_t> PartsWithin(const EventSequence& a, const EventSequence& b);

 private:
  static constexpr size_t kMaxSamples = 1 << 16;

  void Sample();

  uint64_t hash_ = 0x243f6a8885a308d3, sum_ = 0, count_ = 0;
  uint64_t stride_ = 64, next_ = 64;
  std::vector<uint64_t> samples_;  // hashes after stride_, 2 * stride_, ... events
};

struct SequenceEvent {
  uint64_t word = 0;  // hash of the operation, the row and the size
  SiteIndex site;     // site of the ledger
};

// Hashes a run's allocations and frees: all of them in order, by the numbers of their rows, and those of each row
// regardless of order. Two runs are comparable if both number the same rows alike: because the rows were matched, or
// because both number sites in the order in which they first allocate. Thread-compatible.
class EventDigest : public ReplayObserver {
 public:
  struct RowEvents {
    uint64_t count = 0, sum = 0;
  };

  // Keeps events [begin, end).
  explicit EventDigest(SiteRows rows, uint64_t begin = 0, uint64_t end = 0)
      : row_of_site_(std::move(rows.of_site)), rows_(size_t{rows.count} + 1), begin_(begin), end_(end) {}

  void OnAllocate(const ReplayAllocation& allocated) override { Add(allocated, true); }
  void OnFree(const ReplayAllocation& freed) override { Add(freed, false); }

  const EventSequence& sequence() const { return sequence_; }
  const RowEvents& row(uint32_t number) const { return rows_[number]; }
  const std::vector<SequenceEvent>& kept() const { return kept_; }

 private:
  void Add(const ReplayAllocation& event, bool born);

  const IndexedVector<SiteIndex, uint32_t> row_of_site_;
  EventSequence sequence_;
  std::vector<RowEvents> rows_;
  const uint64_t begin_, end_;
  std::vector<SequenceEvent> kept_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_EVENT_SEQUENCE_H_
