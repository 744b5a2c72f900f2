// SPDX-License-Identifier: Apache-2.0
//
// Collects what may mark the end of a step: calls of vramtrack_step, NVTX ranges, names of
// torch.profiler.record_function and an optimizer's steps. Also measures how far the run has come at any instant.
#ifndef ANALYZER_FINDINGS_CORE_STEP_CANDIDATES_H_
#define ANALYZER_FINDINGS_CORE_STEP_CANDIDATES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/mark_scan.h"
#include "analyzer/findings/core/optimizer_stacks.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/steps/run_clock.h"
#include "analyzer/steps/step_choice.h"

namespace vramtrack {

// Thread-compatible.
class StepCandidates {
 public:
  using Mark = MarkScan::Mark;

  // `kept`: null, or the scan that was made for an earlier reading of the trace, if there was any. It goes on if it
  // can, and is there afterwards for the next reading.
  explicit StepCandidates(const Trace& trace, std::unique_ptr<MarkScan>* kept = nullptr);

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
  const IndexedVector<StackIndex, bool>& in_optimizer() const { return optimizers_.inside(); }
  // Returns the times at which optimizers began to allocate within a step, ascending. For traces without optimizer
  // marks.
  const std::vector<uint64_t>& optimizer_entries() const { return optimizer_entries_; }
  // Returns the times at which cells of a notebook began to allocate, ascending.
  const std::vector<uint64_t>& cell_entries() const { return cell_entries_; }

 private:
  using Group = MarkScan::Group;
  using GroupKey = MarkScan::GroupKey;

  void MakeCandidates(std::map<GroupKey, Group> groups);
  void Offer(StepSource source, const std::string& name, MarkTrust trust, std::vector<Mark> marks,
             ThreadSlot only_steps_of = {});
  void OfferGroup(const GroupKey& key, Group* group);
  double HeldBy(const std::vector<Mark>& marks) const;
  std::vector<Mark> WithoutBursts(std::vector<Mark> marks, bool in_backward) const;

  const OptimizerStacks optimizers_;
  RunClock clock_;
  std::vector<uint64_t> optimizer_entries_, cell_entries_;
  std::vector<StepCandidate> candidates_;
  std::vector<std::vector<Mark>> marks_;
  std::vector<ThreadSlot> only_steps_of_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_STEP_CANDIDATES_H_
