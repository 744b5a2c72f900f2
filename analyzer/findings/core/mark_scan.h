// SPDX-License-Identifier: Apache-2.0
//
// Reads from a trace what StepCandidates is made of: the marks of its threads by what they mean, and how much happened
// when. It can go on with a later reading of the trace.
#ifndef ANALYZER_FINDINGS_CORE_MARK_SCAN_H_
#define ANALYZER_FINDINGS_CORE_MARK_SCAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/optimizer_stacks.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/steps/run_clock.h"
#include "proto/block_decoder.h"

namespace vramtrack {

// Reads block by block; blocks without marks are decoded only as far as the clock needs them. Memory is bounded by
// kMostSamples and kMostMarks, not by the trace. May be copied. Not thread-safe.
class MarkScan {
 public:
  // In a long trace, several events share a sample of the clock.
  static constexpr uint64_t kMostSamples = 1u << 18;
  // Limits for one name and for all names. A mark that occurs more often does not end steps.
  static constexpr size_t kMostMarksOfName = 1u << 20, kMostMarks = 1u << 22;

  // A mark that was kept: the `ordinal`-th MARK or STEP event of a thread, from 0.
  struct Mark {
    uint64_t time = 0, end = 0;  // the end of a range; otherwise `time`
    uint64_t ordinal = 0;
    ThreadSlot slot;
    uint32_t identity = 0;  // identifies a numbered mark, the same in each thread; otherwise 0
    bool idle = false;      // an optimizer's mark: nothing was allocated since its previous one
  };

  enum class Source { kStepCall, kRange, kName, kOptimizer };
  // Identifies marks that mean the same: one name, or one optimizer called at one place.
  struct GroupKey {
    Source source;
    std::string name;
    uint64_t call;  // where an optimizer is called
    bool operator<(const GroupKey& other) const {
      return std::tie(source, name, call) < std::tie(other.source, other.name, other.call);
    }
  };
  struct Group {
    std::vector<Mark> marks;  // in the order of threads, by time within each
    bool too_many = false;
    size_t idle = 0;           // optimizer marks without an allocation since the previous one
    bool in_backward = false;  // an optimizer that is called by a hook of the backward pass
  };

  // Reads nothing yet.
  explicit MarkScan(const Trace& trace);

  // Reads the blocks that stay as they are when the trace grows.
  void ReadSettled(const Trace& trace, const OptimizerStacks& optimizers) { Read(trace, optimizers, true); }
  // Reads all blocks that have not been read.
  void ReadAll(const Trace& trace, const OptimizerStacks& optimizers) { Read(trace, optimizers, false); }
  // Returns whether a new scan of `trace`, a later reading, would have read likewise what ReadSettled() has read. How
  // closely events are looked at depends on their number; it changes whenever a thread has twice as many.
  bool CanGoOn(const Trace& trace) const;
  // Returns the number of blocks that have been read.
  size_t blocks_read() const;

  // After ReadAll(): returns the clock of the run.
  RunClock Clock() const;
  // After ReadAll(): returns the groups with their marks in the order of threads, by time within each. The scan is of
  // no use any more.
  std::map<GroupKey, Group> TakeGroups();
  // After ReadAll(): returns the times at which optimizers began to allocate, ascending.
  std::vector<uint64_t> OptimizerEntries() const;
  // The same of cells of a notebook.
  std::vector<uint64_t> CellEntries() const;

  // Returns the name with "#" for each number, so that "step 12" and "step 13" are equal.
  static std::string WithoutNumbers(std::string_view name);

 private:
  using GroupIndex = uint32_t;
  static constexpr GroupIndex kNoGroup = UINT32_MAX;

  struct Sample {
    uint64_t time;
    double work, events;
  };
  // An open range of a thread. It belongs to a group, or to none if there are too many marks.
  struct OpenRange {
    GroupIndex group = kNoGroup;
    size_t mark = 0;
    uint32_t domain = 0;  // see Definitions::domains; only for pushed ranges
  };
  struct SlotState {
    size_t next_block = 0;
    uint64_t next_sequence = 0;  // the first event of that block, if it was there
    uint64_t soon = 0;           // an object that lived for so many allocations of its thread was short-lived
    uint64_t marks = 0, last_allocation = 0;
    std::vector<Sample> samples;
    uint64_t events_in_sample = 0;
    double work_in_sample = 0;
    double work_per_event = 0.5;  // of the last block that was decoded
    bool inside = false;          // the last allocation was an optimizer's
    uint32_t cell = 0;            // that of the last allocation in one
    bool worked = true;           // something was allocated outside optimizers since the last optimizer mark
    std::vector<OpenRange> open;
  };

  static uint64_t EventsPerSample(const Trace& trace);
  static uint64_t BlocksPerDecoded(const Trace& trace);
  static uint64_t Soon(const std::vector<BlockRef>& blocks);

  void Read(const Trace& trace, const OptimizerStacks& optimizers, bool settled);
  void ReadPast();
  void ReadThread(ThreadSlot slot, bool settled);
  void ReadBlock(const std::vector<BlockRef>& blocks, size_t index, ThreadSlot slot, SlotState* state);
  void ReadEvents(BlockDecoder* decoder, const std::vector<StackIndex>& distinct, ThreadSlot slot, SlotState* state);
  // Counts a block that is not decoded.
  void CountBlock(const std::vector<BlockRef>& blocks, size_t index, SlotState* state) const;
  void Count(uint64_t time, double work, SlotState* state) const;
  void Note(uint64_t time, std::vector<uint64_t>* entries);
  void OnStep(uint64_t time, uint32_t identity, ThreadSlot slot, SlotState* state);
  // `number`: 0 for marks of the past, which have no number.
  void OnMark(uint64_t time, uint32_t kind, StackIndex stack, uint32_t name, uint64_t number, ThreadSlot slot,
              SlotState* state);
  void OnRangeStart(const Mark& mark, uint64_t number);
  void OnRangeEnd(uint64_t time, uint64_t number);
  uint32_t DomainOf(uint32_t name) const;
  const std::string& TextOf(uint32_t name);
  GroupIndex IndexOf(const GroupKey& key);
  GroupIndex GroupOfName(Source source, uint32_t name);
  size_t Keep(GroupIndex group, const Mark& mark);  // returns its index; SIZE_MAX if it is not kept

  const Trace* trace_;
  const OptimizerStacks* optimizers_ = nullptr;  // while it reads
  uint64_t events_per_sample_, blocks_per_decoded_;
  IndexedVector<ThreadSlot, SlotState> slots_;
  RunClock past_clock_;
  std::vector<Group> groups_;
  std::map<GroupKey, GroupIndex> group_of_key_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, GroupIndex> group_of_name_;  // by source and Name
  // Ranges that may end in another thread, by number. Holds ranges that have not ended, and ends that were read before
  // their starts, as threads are read one after the other.
  absl::flat_hash_map<uint64_t, OpenRange> started_;
  absl::flat_hash_map<uint64_t, uint64_t> ended_;
  size_t kept_ = 0;
  std::vector<uint64_t> optimizer_entries_, cell_entries_;
  bool past_read_ = false;
  // Another order of the blocks could have given something else: a limit was reached, or something was not defined yet.
  bool depends_on_order_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_MARK_SCAN_H_
