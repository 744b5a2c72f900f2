// SPDX-License-Identifier: Apache-2.0
//
// The marks of a trace that tell where steps end although nobody called vramtrack_step: an optimizer's steps, ranges of
// NVTX, steps of torch.profiler.
#ifndef ANALYZER_FINDINGS_STEP_MARKS_H_
#define ANALYZER_FINDINGS_STEP_MARKS_H_

#include <map>
#include <string>
#include <vector>

#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/step_clock.h"
#include "analyzer/steps/mark_groups.h"

namespace vramtrack {

class StepMarks {
 public:
  // Reads all marks of the trace.
  explicit StepMarks(const Trace& trace);

  // False, with `plan` as it was, where such marks tell nothing. `name`: of ranges, with "#" for a number; empty: which
  // one is found out. `kind`: the kind of those with that name.
  bool PlanByNames(const std::string& name, schema::MarkKind kind, StepPlan* plan) const;
  bool PlanByOptimizer(StepPlan* plan) const;
  // By what is allocated within an optimizer's step, for a trace without its marks.
  bool PlanByOptimizerAllocations(StepPlan* plan) const;

 private:
  struct Kept {
    MarkGroup group;
    uint64_t outermost = 0;  // of ranges: how many were in no other
    uint64_t idle = 0;       // of an optimizer: how many followed its last one with nothing between them
  };
  struct RangeName {
    uint32_t slot, kind;
    std::string name;
    bool operator<(const RangeName& other) const {
      return std::tie(slot, kind, name) < std::tie(other.slot, other.kind, other.name);
    }
  };
  struct SlotState {
    uint64_t depth = 0;   // of ranges
    bool worked = true;   // since the last optimizer's step
    bool inside = false;  // the last allocation was an optimizer's
  };

  void FindOptimizers();
  void Add(uint32_t slot, uint32_t kind, uint32_t stack, uint32_t name, const MarkGroup& marks, SlotState* state);
  static std::string Normal(const std::string& name);

  const Trace& trace_;
  std::vector<bool> in_optimizer_;        // by distinct stack
  std::vector<uint64_t> optimizer_call_;  // the same: a number for where step() is called, 0 outside
  std::map<RangeName, Kept> ranges_;
  std::map<uint64_t, Kept> optimizers_;  // by optimizer_call_
  std::map<RangeName, std::vector<StepMark>> marks_of_range_;
  std::map<uint64_t, std::vector<StepMark>> marks_of_optimizer_;
  uint64_t optimizer_allocations_ = 0;  // runs of them
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_STEP_MARKS_H_
