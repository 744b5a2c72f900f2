// SPDX-License-Identifier: Apache-2.0
//
// Collects what may mark the end of a step: calls of vramtrack_step, NVTX ranges, names of
// torch.profiler.record_function and an optimizer's steps. Also measures how far the run has come at any instant.
#ifndef ANALYZER_FINDINGS_CORE_STEP_CANDIDATES_H_
#define ANALYZER_FINDINGS_CORE_STEP_CANDIDATES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/steps/run_clock.h"
#include "analyzer/steps/step_choice.h"

namespace vramtrack {

// Reads a trace once, block by block; blocks without marks are decoded only as far as the clock needs them. Memory is
// bounded by kMostSamples and kMostMarks, not by the trace. Not thread-safe during construction.
class StepCandidates {
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

  explicit StepCandidates(const Trace& trace);

  const RunClock& clock() const { return clock_; }
  // Returns the candidates, for ChooseSteps.
  const std::vector<StepCandidate>& candidates() const { return candidates_; }
  // Returns the marks of a candidate, one for each of its times.
  const std::vector<Mark>& marks(size_t candidate) const { return marks_[candidate]; }
  // Raises the trust in names that occur as often as one of the loops of the stream.
  void Confirm(const std::vector<uint64_t>& loops);

  // Returns the thread whose STEP events, all of them, make up the candidate; none if it has other marks.
  ThreadSlot StepsOfOneThread(size_t candidate) const { return only_steps_of_[candidate]; }
  // Returns for each stack whether it is within an optimizer's step.
  const IndexedVector<StackIndex, bool>& in_optimizer() const { return in_optimizer_; }
  // Returns the times at which optimizers began to allocate within a step, ascending. For traces without optimizer
  // marks.
  const std::vector<uint64_t>& optimizer_entries() const { return optimizer_entries_; }
  // Returns the name with "#" for each number, so that "step 12" and "step 13" are equal.
  static std::string WithoutNumbers(std::string_view name);

 private:
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
  // An open range of a thread. It belongs to a group, or to none if there are too many groups.
  struct OpenRange {
    Group* group = nullptr;
    size_t mark = 0;
    uint32_t domain = 0;  // see Definitions::domains; only for pushed ranges
  };
  struct SlotState {
    uint64_t marks = 0, allocations = 0;
    uint64_t events_in_sample = 0;
    double work_in_sample = 0;
    bool inside = false;  // the last allocation was an optimizer's
    bool worked = true;   // something was allocated outside optimizers since the last optimizer mark
    std::vector<OpenRange> open;
  };

  void FindOptimizers();
  void ReadPast();
  void ReadThread(ThreadSlot slot);
  void Count(uint64_t time, double work, uint64_t events, SlotState* state);
  void OnStep(uint64_t time, uint32_t identity, ThreadSlot slot, SlotState* state);
  // `number`: 0 for marks of the past, which have no number.
  void OnMark(uint64_t time, uint32_t kind, StackIndex stack, uint32_t name, uint64_t number, ThreadSlot slot,
              SlotState* state);
  void OnRangeStart(const Mark& mark, uint64_t number);
  void OnRangeEnd(uint64_t time, uint64_t number);
  uint32_t DomainOf(uint32_t name) const;
  Group* GroupOfName(Source source, uint32_t name);
  Group* GroupOfOptimizer(uint64_t call);
  size_t Keep(Group* group, const Mark& mark);  // returns its index; SIZE_MAX if it is not kept
  void MakeCandidates();
  void Offer(StepSource source, const std::string& name, MarkTrust trust, std::vector<Mark> marks,
             ThreadSlot only_steps_of = {});
  void OfferGroup(const GroupKey& key, Group* group);
  double HeldBy(const std::vector<Mark>& marks) const;
  std::vector<Mark> WithoutBursts(std::vector<Mark> marks, bool in_backward) const;

  const Trace& trace_;
  RunClock clock_;
  uint64_t events_per_sample_ = 1, blocks_per_decoded_ = 1;
  IndexedVector<StackIndex, bool> in_optimizer_;
  IndexedVector<StackIndex, bool> in_closure_;          // the job's own code that an optimizer's step calls
  IndexedVector<StackIndex, uint64_t> optimizer_call_;  // a number for the place that calls step(); 0 outside
  std::map<GroupKey, Group> groups_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, Group*> group_of_name_;  // by source and Name
  // Ranges that may end in another thread, by number. Holds ranges that have not ended, and ends that were read before
  // their starts, as threads are read one after the other.
  absl::flat_hash_map<uint64_t, OpenRange> started_;
  absl::flat_hash_map<uint64_t, uint64_t> ended_;
  size_t kept_ = 0;
  std::vector<uint64_t> optimizer_entries_;
  IndexedVector<ThreadSlot, SlotState> slots_;
  std::vector<StepCandidate> candidates_;
  std::vector<std::vector<Mark>> marks_;
  std::vector<ThreadSlot> only_steps_of_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_STEP_CANDIDATES_H_
