// SPDX-License-Identifier: Apache-2.0
//
// What a trace of bounded size keeps of events whose blocks are given up: definitions, what is live, and sums of what
// was freed. docs/format.md tells what becomes of it in the file.
#ifndef INTERPOSE_RECORDER_FOLDED_PAST_H_
#define INTERPOSE_RECORDER_FOLDED_PAST_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/compact_table.h"
#include "interpose/base/growing_array.h"
#include "interpose/recorder/live_set.h"
#include "interpose/recorder/mapped_handles.h"
#include "interpose/recorder/time_bins.h"
#include "proto/block_encoder.h"

namespace vramtrack {

// Lives in zeroed memory. Memory: proportional to live allocations, sites and definitions. Not thread-safe: its owner
// holds a lock.
class FoldedPast {
 public:
  // Adds what a journal holds that was sealed into a block. `definitions`: as the block has them. False where there is
  // no memory; nothing can be said of the past then.
  bool Add(const JournalView& view, uint64_t events, const uint8_t* definitions, size_t definition_bytes);

  // The thread will record nothing more.
  void EndThread(uint32_t thread);

  // Appends all that is known as a Checkpoint message. False where there is no memory.
  bool Encode(uint32_t least_time_shift, GrowingArray<uint8_t>* out);

  // Makes what Encode gives smaller, by coarser bins of time. False where it cannot.
  bool Coarsen();

  uint64_t folded_pairs() const { return pairs_; }
  // About what the sums take of what Encode gives.
  uint64_t sums_bytes() const { return 12 * sums_.size(); }

 private:
  friend class CheckpointEncoder;

  static constexpr size_t kMaxAllocations = kMaxJournalEvents / 2;  // of a journal: four words each at least
  static constexpr size_t kKeptFailures = 16;
  static constexpr size_t kKeptSettings = 64;
  static constexpr size_t kDevices = 256;
  // Threads, kinds, stacks and names of marks that are told apart; those beyond have no name.
  static constexpr size_t kMarkSites = 4096;
  // The first of these have their gaps counted.
  static constexpr size_t kGapSites = 1024;

  struct Site {
    uint32_t kind, device, stack;
  };
  struct Sum {
    uint64_t count, bytes, age;
  };
  struct Thread {
    uint64_t events, allocations;  // sealed so far
    uint64_t live;
    uint64_t pending, pending_time;  // identity that the last free names, 0: none. It counts when the next one comes.
    bool ended;
    uint8_t definition_bytes;
    uint8_t definition[62];
  };
  struct Steps {
    uint64_t count, first_time, last_time, first_number, last_number, value;
  };
  struct Memory {
    uint64_t time, free, total;
  };
  struct FrameworkMemory {
    uint64_t time, given_out, reserved;
  };
  struct MarkSite {
    uint32_t thread, kind, stack, name;
  };
  struct Marks {
    uint64_t count, first_time, last_time, first_number, last_number;
  };
  // When the last event of a mark site was, and the shortest and the longest gap.
  struct Spread {
    uint64_t last, shortest, longest;
  };
  struct Gaps {
    uint64_t count, ticks;
  };
  struct Failure {
    uint32_t thread, kind, device, stack;
    uint64_t error, bytes, time;
  };

  struct Setting {
    uint32_t operation, thread, kind, device, stack;
    uint64_t first, second, time;
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
  bool AddStep(uint32_t thread, const uint64_t* record);
  bool AddMemory(const uint64_t* record);
  bool AddFrameworkMemory(const uint64_t* record);
  bool MarkSiteOf(const MarkSite& mark, uint32_t* site);
  bool AddMark(uint32_t thread, const uint64_t* record);
  bool AddGap(uint32_t mark_site, uint64_t time);
  bool AddFailure(uint32_t thread, const uint64_t* record);
  void MakeBinFor(uint64_t time);
  void Widen();

  TimeBins bins_;
  bool out_of_memory_;
  uint64_t events_, pairs_, unknown_frees_, last_time_;
  GrowingArray<uint8_t> definitions_;  // all but the threads'
  CompactTable<Thread> threads_;       // by 1 + index
  CompactTable<uint32_t> site_index_;
  GrowingArray<Site> sites_;
  LiveSet live_;
  CompactTable<Sum> sums_;
  MappedHandles mapped_;
  CompactTable<uint64_t> early_;                    // time of a free by identity, its allocation is not here yet
  CompactTable<Steps> steps_;                       // by 1 + thread, and bin
  CompactTable<Memory> memory_;                     // by 1 + device, and bin
  CompactTable<FrameworkMemory> framework_memory_;  // by 1 + device, and bin
  CompactTable<uint32_t> mark_index_;               // 1 + row of mark_sites_
  GrowingArray<MarkSite> mark_sites_;
  CompactTable<Marks> marks_;                 // by 1 + row of mark_sites_, and bin
  GrowingArray<Spread> spreads_;              // of the first mark sites
  CompactTable<Gaps> gaps_;                   // by 1 + row of mark_sites_, and size of the gap
  CompactTable<uint64_t> failed_;             // how often, by FailureKey
  Failure kept_failures_[2 * kKeptFailures];  // the first ones, then the last ones in turn
  uint64_t failures_;
  Setting kept_settings_[kKeptSettings];  // the last ones in turn
  uint64_t settings_;
  uint64_t reset_time_[kDevices], latest_reset_;
  // The journal that is being added.
  size_t local_count_;
  uint32_t local_[kMaxAllocations];  // 1 + offset of an allocation's record, 0: it is gone
  // Of Encode.
  struct Shape {
    uint32_t site;
    uint64_t bytes, stream;
  };
  GrowingArray<Shape> shapes_;
  CompactTable<uint32_t> shape_index_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_FOLDED_PAST_H_
