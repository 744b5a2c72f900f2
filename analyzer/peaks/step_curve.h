// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_STEP_CURVE_H_
#define ANALYZER_PEAKS_STEP_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

// The live bytes of a scope within each step, for runs with few steps: a timeline has one bin for each step, this has
// several. Memory is bounded by kMaxRows. Thread-compatible.
class StepCurve {
 public:
  static constexpr size_t kMaxRows = 4000;

  // Consecutive allocations and frees of one step.
  struct Row {
    uint32_t step = 0;
    uint64_t event = 0;  // number of the first one within the step
    uint64_t low = 0, high = 0;
  };

  // Records an allocation or a free in the step. `bytes` is added to the live bytes; for a free it is 0 - bytes.
  void Add(uint32_t step, uint64_t bytes) {
    if (!given_up_) Follow(step, bytes);
  }

  // Returns the rows in order; empty if no step would have more than one.
  std::vector<Row> Rows() const;
  // Returns the largest number of allocations and frees that a row stands for.
  uint64_t events_per_row() const { return uint64_t{1} << width_bits_; }
  // Returns the number of allocations and frees of a step that has rows.
  uint64_t EventsOf(uint32_t step) const { return events_[step]; }

 private:
  void Follow(uint32_t step, uint64_t bytes);
  bool BeginsRow(uint64_t event) const { return (event & (events_per_row() - 1)) == 0; }
  void MergePairs();

  std::vector<Row> rows_;
  std::vector<uint64_t> events_;  // number of events by step
  uint64_t live_ = 0;
  int width_bits_ = 0;     // a row stands for 1 << width_bits_ events
  bool given_up_ = false;  // there are too many steps
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_STEP_CURVE_H_
