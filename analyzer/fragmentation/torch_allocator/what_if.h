// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/allocator_model.h"
#include "analyzer/fragmentation/torch_allocator/framework_observer.h"
#include "analyzer/fragmentation/torch_allocator/knobs.h"
#include "analyzer/fragmentation/torch_allocator/largest_pass.h"

namespace vramtrack::torch_allocator {

// Replays what the program asked for through models of the allocator: one as it was, against which the trace is held,
// and one for each knob. Follows the first kMaxBlocks blocks of a device. Thread-compatible.
class WhatIf : public FrameworkObserver {
 public:
  static constexpr uint64_t kMaxBlocks = 2'000'000;

  // `known`: by device, what an earlier replay has learnt; must outlive this. `knobs`: by device. `totals`: the sizes
  // of devices, where they are known. `passes`: by device, what the largest step asked for.
  WhatIf(const std::map<uint32_t, Arenas>* known, std::map<uint32_t, std::vector<Knob>> knobs,
         std::map<uint32_t, uint64_t> totals, std::map<uint32_t, LargestPass> passes)
      : FrameworkObserver(known), knobs_(std::move(knobs)), totals_(std::move(totals)), passes_(std::move(passes)) {}

  struct Trial {
    Knob knob;
    uint64_t reserved_peak = 0, failures = 0;
  };
  // A request that the allocator could not fulfil.
  struct Failure {
    uint64_t ticks = 0, requested = 0;
    struct Fit {
      std::string setting;
      uint64_t free_bytes = 0;  // the most that could have been asked for
    };
    std::vector<Fit> would_fit;
  };
  struct Outcome {
    uint64_t blocks = 0;                      // that were followed
    uint64_t reserved_peak = 0;               // of the trace, while they were
    uint64_t model_reserved_peak = 0;         // of the model of the allocator as it was
    uint64_t differences = 0;                 // blocks after which that model had reserved more or less than the trace
    uint64_t told = 0, told_differences = 0;  // the same, of the times that the allocator itself told
    std::vector<Trial> trials;
    std::vector<Failure> failures;
  };
  // By device, after the replay.
  std::map<uint32_t, Outcome> Finish();

  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& event) override;

 protected:
  void OnPlaced(uint32_t device, const SegmentLayout::Placed& placed, const ReplayAllocation& allocated) override;
  void OnRemoved(uint32_t device, SegmentLayout::Block block, const ReplayAllocation& freed) override;
  void OnGiveBack(uint32_t device, uint64_t release, bool after_refusal) override;
  void OnOutOfMemory(uint32_t device, const StreamEvent& event) override;

 private:
  struct Run {
    Knob knob;
    AllocatorModel model;
    std::vector<AllocatorModel::Block> blocks;  // by that of the layout
  };
  struct State {
    Run real;
    std::vector<Run> trials;
    uint64_t total = 0;
    Outcome outcome;
  };

  State* StateOf(uint32_t device);
  void SetLimits(uint32_t device, State* state);
  void MakePass(uint32_t device, AllocatorModel* model) const;

  std::map<uint32_t, std::vector<Knob>> knobs_;
  std::map<uint32_t, uint64_t> totals_;
  std::map<uint32_t, LargestPass> passes_;
  std::map<uint32_t, State> states_;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_
