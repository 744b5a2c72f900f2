// SPDX-License-Identifier: Apache-2.0
//
// Computes the sums of a StepProfile during a replay.
#ifndef ANALYZER_PROFILE_STEP_METER_H_
#define ANALYZER_PROFILE_STEP_METER_H_

#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/ledger/scope.h"
#include "analyzer/profile/block_sizes.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// Rows into which sites are grouped.
struct SiteRows {
  IndexedVector<SiteIndex, uint32_t> of_site;  // the row of each site; `count` for a site in no row
  uint32_t count = 0;
};

// Not movable during a replay. Thread-compatible.
class StepMeter : public ReplayObserver {
 public:
  // `framework`: the trace has blocks of a framework's allocator.
  StepMeter(SiteRows rows, const StepWindow& window, bool framework);

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& event) override;

  // Fills in the windows and totals of the profile's sites, which are the rows, the devices with `steps_in_bin` steps
  // in a bin, and the step values. Call it once, after the replay and before its ledger is destroyed.
  void Take(uint64_t steps_in_bin, StepProfile* profile);

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  // A row in a window.
  struct Sums {
    SiteWindow site;
    uint64_t high = 0;  // highest of the device's step peaks
  };
  struct Totals {
    uint64_t bytes_at_peak = 0, own_peak = 0, live_bytes = 0, allocations = 0;  // as in ProfileSite
    bool several_threads = false;
  };
  // The bytes that one thread has live of a row.
  struct Holder {
    ThreadSlot slot;
    uint64_t live;
  };
  // The state of a row at one level of one device: all its sites are in one scope.
  struct State {
    uint64_t live = 0;
    uint32_t step = 0;  // its windows are filled up to this step, exclusively
    uint32_t scope = Site::kNoScope;
    uint64_t step_epoch = 0, noted_at_step_peak = 0;
    uint64_t run_epoch = 0, noted_at_run_peak = 0;
    std::vector<Holder> holders;  // threads with live bytes
    uint64_t own_peak = 0;        // of the current step

    uint64_t largest() const;
  };
  struct PeakStep {
    uint64_t peak = 0, fragmentation = 0, last_epoch = 0;
    uint64_t reserved = 0;  // at the end of the step, or at a peak of the run in the step if that is more
    uint32_t maker = kNoRow;
    bool concurrent = false;
  };
  // The peaks of one level of a device.
  struct Peak {
    DeviceIndex device;
    uint64_t step_peak = 0, step_fragmentation = 0, step_reserved = 0, step_epoch = 1;
    uint64_t run_peak = 0, run_reserved = 0, run_fragmentation = 0, run_epoch = 1;
    uint32_t run_step = 0;
    uint32_t step_maker = kNoRow;         // row whose allocation makes the step's peak
    uint32_t concurrent_in = UINT32_MAX;  // last step in which several threads have memory of one row live
    std::vector<PeakStep> steps;          // complete ones
    bool shown = false;                   // the figures of the device are those of this level
  };

  bool Counts(uint32_t step) const { return window_.whole_run || step < window_.end; }
  Peak& PeakOf(uint32_t scope);
  void Change(SiteIndex site, ThreadSlot slot, uint64_t objects, uint64_t bytes, bool born);
  void ChangeHolder(ThreadSlot slot, uint64_t bytes, bool born, State* state);
  void Settle(uint32_t row);
  void AddToWindow(uint32_t row, uint32_t step, uint64_t live, uint64_t at_peak, uint64_t own);
  // The sums of a row in a block; null for a step in no block.
  Sums* SumsOf(uint32_t row, uint32_t block) {
    return block < window_.blocks ? &sums_[size_t{row} * window_.blocks + block] : nullptr;
  }
  void NoteReserved(uint64_t reserved, Peak* peak);
  void Finish();
  void TakeRow(uint32_t row, ProfileSite* site);
  void AddMakers(const Peak& peak, StepProfile* profile) const;
  ProfileDevice DeviceOf(uint64_t steps_in_bin, const Scope& scope, const Peak& peak) const;

  const SiteRows rows_;
  const StepWindow window_;
  const bool framework_;
  const Ledger* ledger_ = nullptr;
  // Indexed by row; the last entry is for all sites in no row.
  std::vector<State> states_;
  std::vector<Totals> totals_;
  std::vector<BlockSizes> sizes_;
  BlockNeighbours neighbours_;
  std::vector<Sums> sums_;          // row r begins at r * window_.blocks
  std::vector<WindowSteps> marks_;  // by window; only marks
  std::vector<Peak> peaks_;         // by scope
  uint32_t step_ = 0, block_ = 0;   // the current step and block
  bool over_ = false;               // the part of the run that counts has ended
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_STEP_METER_H_
