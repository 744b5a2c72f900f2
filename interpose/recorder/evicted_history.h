// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_EVICTED_HISTORY_H_
#define INTERPOSE_RECORDER_EVICTED_HISTORY_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/compact_table.h"
#include "interpose/base/growing_array.h"
#include "interpose/base/row_table.h"
#include "interpose/recorder/live_set.h"
#include "proto/block_encoder.h"
#include "proto/checkpoint_record.h"

namespace vramtrack {

// Divides time into at most `max_bins_` bins of equal width. The caller doubles the width (Widen) when a time is beyond
// the last bin. Plain data; call Start first.
class TimeBins {
 public:
  static constexpr uint32_t kMaxBins = 256, kMinBins = 8;

  void Start(uint64_t ticks) {
    start_ = ticks;
    shift_ = kFirstShift;
    max_bins_ = kMaxBins;
  }
  bool started() const { return max_bins_ != 0; }

  // Returns whether `ticks` is beyond the last bin; if so, call Widen until it is not.
  bool Beyond(uint64_t ticks) const { return ticks > start_ && (ticks - start_) >> shift_ >= max_bins_; }
  // Doubles the width: two bins become one.
  void Widen() { ++shift_; }
  // Halves the maximum number of bins; call Widen afterwards.
  void Halve() { max_bins_ /= 2; }
  bool can_halve() const { return max_bins_ > kMinBins; }

  uint32_t BinOf(uint64_t ticks) const {
    return ticks > start_ ? static_cast<uint32_t>((ticks - start_) >> shift_) : 0;
  }

  uint64_t start() const { return start_; }
  uint32_t shift() const { return shift_; }

 private:
  static constexpr uint32_t kFirstShift = 20;  // a bin of less than a millisecond

  uint64_t start_;
  uint32_t shift_, max_bins_;
};

// The lifetime of memory from cuMemCreate: it ends when its handle is released and its last mapping is removed,
// whichever comes later. Allocations are named by their identities, which are not 0. Zero-initialised memory is an
// empty object. If memory is short, mappings are forgotten, and the allocation ends with its release. Not thread-safe.
class MappedHandles {
 public:
  void OnCreate(uint64_t memory, uint64_t handle) {
    if (uint64_t* named = by_handle_.Insert(handle + 1)) *named = memory;
  }

  void OnMap(uint64_t mapping, uint64_t handle) {
    const uint64_t* memory = by_handle_.Find(handle + 1);
    if (memory == nullptr) return;
    Memory* mapped = memory_.Insert(*memory);
    uint64_t* of = mapped == nullptr ? nullptr : of_mapping_.Insert(mapping);
    if (of == nullptr) return;
    *of = *memory;
    ++mapped->mappings;
  }

  // Notes a release. Returns true if the memory is still mapped, so that it ends with its last mapping.
  bool OnRelease(uint64_t memory, uint64_t handle, uint64_t time) {
    const uint64_t* named = by_handle_.Find(handle + 1);
    if (named != nullptr && *named == memory) by_handle_.Erase(handle + 1);
    Memory* mapped = memory_.Find(memory);
    if (mapped == nullptr) return false;
    if (mapped->mappings == 0) {
      memory_.Erase(memory);
      return false;
    }
    mapped->released = time;
    return true;
  }

  // Notes that a mapping is removed. Returns the memory that ends with it, 0 for none.
  uint64_t OnUnmap(uint64_t mapping) {
    const uint64_t* of = of_mapping_.Find(mapping);
    if (of == nullptr) return 0;
    const uint64_t memory = *of;
    of_mapping_.Erase(mapping);
    Memory* mapped = memory_.Find(memory);
    if (mapped == nullptr || --mapped->mappings > 0 || mapped->released == 0) return 0;
    memory_.Erase(memory);
    return memory;
  }

  // Forgets memory that has ended, even if it is still mapped.
  void Forget(uint64_t memory) { memory_.Erase(memory); }

  // Calls `on_released(memory, time)` for memory that was released and is still mapped.
  template <typename OnReleased>
  void ForEachReleased(OnReleased on_released) {
    memory_.ForEach([&](uint64_t memory, const Memory* mapped) {
      if (mapped->released != 0) on_released(memory, mapped->released);
    });
  }

 private:
  struct Memory {
    uint64_t mappings, released;  // `released` is the time of the release, 0 before it
  };

  CompactTable<uint64_t> by_handle_;   // by 1 + handle
  CompactTable<Memory> memory_;        // memory that has been mapped
  CompactTable<uint64_t> of_mapping_;  // mapping to memory
};

// The information that a trace of bounded size keeps about events whose blocks are discarded: definitions, live
// allocations, and sums of freed ones. docs/internals/format.md describes how the file stores it.

// Zero-initialised memory is an empty object. Memory use is proportional to live allocations, sites and definitions.
// Not thread-safe: its owner holds a lock.
class EvictedHistory {
 public:
  // Adds the events of a journal that was sealed into a block. `definitions` are those of the block. Returns false if
  // there is no memory; the object is then unusable.
  bool Add(const JournalView& view, uint64_t events, const uint8_t* definitions, size_t definition_bytes);

  // Notes that the thread records no further events.
  void EndThread(uint32_t thread);

  // Appends everything as a Checkpoint message. Returns false if there is no memory.
  bool Encode(uint32_t least_time_shift, GrowingArray<uint8_t>* out);

  // Makes the output of Encode smaller by using wider time bins. Returns false if it cannot.
  bool Coarsen();

  uint64_t folded_pairs() const { return pairs_; }
  // Returns an estimate of the bytes that the sums use in the output of Encode.
  uint64_t sums_bytes() const { return 12 * sums_.size(); }

 private:
  friend class CheckpointEncoder;

  static constexpr size_t kMaxAllocations = kMaxJournalEvents / 2;  // in a journal: each uses at least four words
  static constexpr size_t kDevices = 256;
  // With so many distinct EventSites, new marks lose their name.
  static constexpr size_t kMostNamed = 4096;

  struct Site {
    uint32_t kind, device, stack;
  };
  struct Sum {
    uint64_t count, bytes, age;
  };
  struct Thread {
    uint64_t events, allocations;  // number sealed so far
    uint64_t live;
    uint64_t pending, pending_time;  // identity in the last free, 0 for none; applied when the next free is added
    bool ended;
    uint8_t definition_bytes;
    uint8_t definition[62];
  };
  // The key of events that are counted together: step marks, marks, failures, and readings of memory. Each bin keeps
  // their number, the first and the last. Members that a kind of event does not have are 0.
  struct EventSite {
    uint32_t operation, thread, kind, device, stack, name;
  };
  static constexpr uint32_t kHostReading = UINT32_MAX;  // an operation, for readings of the host's memory
  struct Kept {
    uint64_t count, first_time, first, time, value, second;  // see CheckpointRecord
  };
  // The first kFirst events and the last kLast of any number, as they were.
  template <uint64_t kFirst, uint64_t kLast>
  struct FirstAndLast {
    uint64_t count;
    CheckpointRecord events[kFirst + kLast];

    uint64_t size() const { return count < kFirst + kLast ? count : kFirst + kLast; }
    void Add(uint32_t thread, const uint64_t* record) {
      CheckpointRecord& event = events[count < kFirst ? count : kFirst + count % kLast];
      event.operation = OperationOf(record[0]);
      event.thread = thread;
      event.kind = KindOf(record[0]);
      event.device = DeviceOf(record[0]);
      event.stack = RefOf(record[0]);
      event.time = record[1];
      event.value = record[2];
      event.second = record[3];
      ++count;
    }
  };

  static uint64_t SumKey(uint64_t site, uint32_t birth, uint32_t death) {
    return (site + 1) << 16 | birth << 8 | death;
  }

  bool AddDefinitions(Thread* thread, const uint8_t* definitions, size_t bytes);
  bool SiteOf(uint32_t kind, uint32_t device, uint32_t stack, uint32_t* site);
  bool FoldPair(uint32_t site, uint64_t bytes, uint64_t birth, uint64_t death);
  bool FoldLocal(const JournalView& view, size_t index, uint64_t death);
  bool TakeEarlyFree(const JournalView& view, size_t index, uint64_t* time);
  bool FoldLive(LiveRecord* record, uint64_t death);
  bool FreeLive(LiveRecord* record, uint64_t death);
  bool KeepAllocation(const JournalView& view, size_t index);
  bool Free(const JournalView& view, uint64_t identity, uint64_t time);
  void CountUnknownFree(uint64_t time);
  bool Reset(const JournalView& view, uint32_t device, uint64_t time);
  bool KeepLocal(const JournalView& view);
  bool AddHostReading(const uint8_t* at, const uint8_t* end);
  bool Keep(EventSite site, uint64_t time, uint64_t value, uint64_t second);
  static void Merge(const Kept& more, Kept* into);
  void MakeBinFor(uint64_t time);
  void Widen();

  TimeBins bins_;
  bool out_of_memory_;
  uint64_t events_, pairs_, unknown_frees_, last_time_;
  GrowingArray<uint8_t> definitions_;  // all except those of threads
  CompactTable<Thread> threads_;       // by 1 + index
  RowTable<Site> sites_;
  LiveSet live_;
  CompactTable<Sum> sums_;
  MappedHandles mapped_;
  CompactTable<uint64_t> early_;  // time of a free by identity, while its allocation has not been added
  RowTable<EventSite> event_sites_;
  CompactTable<Kept> kept_;  // by number of the event site, and bin
  FirstAndLast<16, 16> failures_;
  FirstAndLast<0, 64> settings_;  // TRIM and LIMIT
  uint64_t reset_time_[kDevices], latest_reset_;
  // State of Add, about the journal that is added.
  size_t local_count_;
  uint32_t local_[kMaxAllocations];  // 1 + offset of an allocation's record; 0 if it is no longer live
  // State of Encode.
  struct Shape {
    uint64_t site, bytes, stream;
  };
  RowTable<Shape> shapes_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_EVICTED_HISTORY_H_
