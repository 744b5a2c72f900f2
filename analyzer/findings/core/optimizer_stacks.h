// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_OPTIMIZER_STACKS_H_
#define ANALYZER_FINDINGS_CORE_OPTIMIZER_STACKS_H_

#include <cstdint>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/definitions.h"

namespace vramtrack {

// Which stacks of a trace are within an optimizer's step, or within a cell of a notebook, by their Python frames.
// Thread-safe once it is made.
class OptimizerStacks {
 public:
  explicit OptimizerStacks(const Definitions& definitions);

  const IndexedVector<StackIndex, bool>& inside() const { return inside_; }
  bool IsInside(StackIndex stack) const { return inside_[stack]; }
  // Returns whether it is the job's own code that an optimizer's step calls.
  bool IsInClosure(StackIndex stack) const { return in_closure_[stack]; }
  // Returns a number for the place that calls step(); 0 outside.
  uint64_t CallOf(StackIndex stack) const { return call_[stack]; }
  // Returns a number for the notebook's cell, as IPython's shell runs it; 0 outside.
  uint32_t CellOf(StackIndex stack) const { return cell_[stack]; }

 private:
  IndexedVector<StackIndex, bool> inside_, in_closure_;
  IndexedVector<StackIndex, uint32_t> cell_;
  IndexedVector<StackIndex, uint64_t> call_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_OPTIMIZER_STACKS_H_
