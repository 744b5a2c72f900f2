// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_LIVE_SET_H_
#define INTERPOSE_RECORDER_LIVE_SET_H_

#include <cstdint>

#include "interpose/base/compact_table.h"
#include "interpose/base/growing_array.h"

namespace vramtrack {

// The identity of an allocation in a trace: the thread that made it, and the number of allocations that this thread had
// made before. Tables hold it packed into one word, which is never 0.
struct Identity {
  static constexpr int kOrdinalBits = 40;
  static constexpr uint64_t kUsedBit = uint64_t{1} << 63;

  static constexpr Identity Of(uint64_t packed) {
    return {static_cast<uint32_t>((packed & ~kUsedBit) >> kOrdinalBits), packed & ((uint64_t{1} << kOrdinalBits) - 1)};
  }
  constexpr uint64_t packed() const { return kUsedBit | static_cast<uint64_t>(thread) << kOrdinalBits | ordinal; }

  uint32_t thread;
  uint64_t ordinal;
};

struct LiveRecord {
  uint64_t identity;  // not 0
  uint64_t time, address, bytes, stream;
  uint32_t site;
  uint32_t previous, next;  // links of LiveSet
};

// The live allocations in the order in which they were added. The identities of one thread ascend, which keeps their
// encoding small. Zero-initialised memory is an empty set. Not thread-safe.
class LiveSet {
 public:
  // Adds a record. Returns false if there is no memory. `record.identity` must not be in the set yet.
  bool Insert(const LiveRecord& record) {
    if (!records_.Reserve(2)) return false;
    if (records_.size() == 0) records_.Add(LiveRecord());  // sentinel of the ring
    uint32_t at = unused_;
    uint32_t* index = index_.Insert(record.identity);
    if (index == nullptr) return false;
    if (at != 0) {
      unused_ = records_[at].next;
    } else {
      at = static_cast<uint32_t>(records_.size());
      records_.Add(LiveRecord());
    }
    *index = at;
    LiveRecord& to = records_[at];
    to = record;
    to.previous = records_[0].previous;
    to.next = 0;
    records_[to.previous].next = at;
    records_[0].previous = at;
    return true;
  }

  // Returns the record, or null if it is not in the set. Valid until the next Insert.
  LiveRecord* Find(uint64_t identity) {
    const uint32_t* at = index_.Find(identity);
    return at == nullptr ? nullptr : &records_[*at];
  }

  void Erase(LiveRecord* record) {
    const uint32_t at = records_[record->previous].next;
    index_.Erase(record->identity);
    records_[record->previous].next = record->next;
    records_[record->next].previous = record->previous;
    record->next = unused_;
    unused_ = at;
  }

  // Calls `on_record` for each record, which it may erase.
  template <typename OnRecord>
  void ForEach(OnRecord on_record) {
    if (records_.size() == 0) return;
    for (uint32_t at = records_[0].next; at != 0;) {
      const uint32_t next = records_[at].next;
      on_record(&records_[at]);
      at = next;
    }
  }

  size_t size() const { return index_.size(); }

 private:
  GrowingArray<LiveRecord> records_;  // a doubly linked ring; the first record is its sentinel
  uint32_t unused_;                   // head of the list of unused records, 0 for none
  CompactTable<uint32_t> index_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_LIVE_SET_H_
