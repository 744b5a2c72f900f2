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

// Fills in the windows and totals of a profile's sites, the devices, and the step values. Not movable during a replay.
// Thread-compatible.
class StepMeter : public ReplayObserver {
 public:
  // `rows`: the profile's sites, which must stay where they are until the replay has ended. `framework`: the trace has
  // blocks of a framework's allocator.
  StepMeter(SiteRows rows, const StepWindow& window, uint64_t steps_in_bin, bool framework, StepProfile* profile);

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& event) override;
  void OnEnd() override { Finish(); }

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;

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
    std::vector<Holder> holders;  // threads with live bytes
    uint64_t own_peak = 0;        // of the current step

    uint64_t largest() const;
  };
  struct PastStep {
    uint64_t peak = 0, last_epoch = 0;
  };
  // The peaks of one level of a device.
  struct Peak {
    uint64_t step_peak = 0, step_fragmentation = 0, step_epoch = 1;
    uint64_t step_reserved = 0;           // at the end of the step, or at a peak of the run in it if that is more
    uint32_t run_epoch = 0;               // Scope::peak_epoch of the last peak of the run
    uint32_t step_maker = kNoRow;         // row whose allocation makes the step's peak
    uint32_t concurrent_in = UINT32_MAX;  // last step in which several threads have memory of one row live
    std::vector<PastStep> steps;          // complete ones
    ProfileDevice device;
  };

  Peak& PeakOf(uint32_t scope);
  void Change(SiteIndex site, ThreadSlot slot, uint64_t objects, uint64_t bytes, bool born);
  void ChangeHolder(ThreadSlot slot, uint64_t bytes, bool born, State* state);
  void Settle(uint32_t row);
  void AddToWindow(uint32_t row, uint32_t step, uint64_t live, uint64_t at_peak, uint64_t own);
  ProfileSite& SiteOf(uint32_t row) { return row < rows_.count ? profile_.sites[row] : others_; }
  // The sums of a row in a block.
  SiteWindow& SumsOf(uint32_t row, uint32_t block);
  void NoteReserved(uint64_t reserved, Peak* peak);
  void Finish();
  void EndStep(uint32_t step, const Scope& scope, Peak* peak);
  void AddToBin(uint32_t step, const Scope& scope, Peak* peak) const;

  const SiteRows rows_;
  const StepWindow window_;
  const uint64_t steps_in_bin_;
  const bool framework_;
  StepProfile& profile_;
  ProfileSite others_;  // all sites in no row
  const Ledger* ledger_ = nullptr;
  std::vector<State> states_;  // by row; the last entry is for all sites in no row
  BlockNeighbours neighbours_;
  std::vector<uint64_t> highs_;    // highest of the device's step peaks, by row and window
  std::vector<Peak> peaks_;        // by scope
  uint32_t step_ = 0, block_ = 0;  // the current step and block
  bool over_ = false;              // the part of the run that counts has ended
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_STEP_METER_H_
