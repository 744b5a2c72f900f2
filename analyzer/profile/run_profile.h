// SPDX-License-Identifier: Apache-2.0
//
// Fills a ProcessProfile from a replay, or the sums that a StepProfile is made from.
#ifndef ANALYZER_PROFILE_RUN_PROFILE_H_
#define ANALYZER_PROFILE_RUN_PROFILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/ledger/scope.h"
#include "analyzer/profile/block_sizes.h"
#include "analyzer/profile/event_sequence.h"
#include "analyzer/profile/process_profile.h"

namespace vramtrack {

// What a match did in a block of steps: sums over its steps.
struct BlockSums {
  uint64_t live = 0, at_peak = 0, own = 0;  // as SiteSeries
  uint64_t bytes = 0, births = 0;
};

// What else a block has where it is all that will be known of its steps.
struct MoreBlockSums {
  uint64_t deaths = 0, died_bytes = 0;
  uint64_t high = 0, at_high = 0;  // the highest of the device's step peaks; bytes of the match then
  uint64_t own_most = 0;           // bytes of one thread, at most
};

// One value a complete step.
struct DeviceSteps {
  std::vector<uint64_t> peaks, fragmentations;  // as DeviceSeries
  std::vector<uint64_t> reserved;               // at the end of the step, or at a peak of the run in it if that is more
  std::vector<uint64_t> floors;
  std::vector<uint32_t> makers;  // the match whose allocation makes the step's peak
  std::vector<bool> concurrent;  // several threads hold memory of one match
};

struct StepSums {
  // Of match m those from m * blocks on.
  std::vector<BlockSums> blocks;
  std::vector<MoreBlockSums> more;
  std::vector<double> mark_sums;  // by block: as ProcessProfile::step_size, and of how many steps
  std::vector<uint64_t> marks;
  std::map<uint32_t, DeviceSteps> devices;  // as ProcessProfile has them
};

// Sites are the matches' numbers: `match_of_site` gives that of each site of the ledger. Not movable during a replay.
class RunProfile : public ReplayObserver {
 public:
  // `framework`: the trace has blocks of a framework's allocator. `sums`: TakeSums() will be called.
  RunProfile(std::vector<uint32_t> match_of_site, size_t matches, const StepWindow& window, bool framework,
             bool sums = false);

  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnFold(uint32_t site, uint64_t objects, uint64_t bytes, bool born) override;
  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& event) override;
  // After the replay, while its ledger is there.
  void Finish();

  const EventSequence& sequence() const { return sequence_; }
  // What the replay came to, after Finish; once.
  ProcessProfile Take();
  // Before Take(), which is without series then.
  StepSums TakeSums();

 private:
  // What a thread holds of a match.
  struct Holder {
    uint32_t slot;
    uint64_t live;
  };
  // What a match holds at one level of one device: its sites are all of one scope.
  struct State {
    uint64_t live = 0;
    uint32_t step = 0;  // up to which, exclusively, its blocks are filled
    uint32_t scope = Site::kNoScope;
    uint64_t step_epoch = 0, noted_at_step_peak = 0;
    uint64_t run_epoch = 0, noted_at_run_peak = 0;
    std::vector<Holder> holders;  // of something
    uint64_t own_peak = 0;        // of the present step

    uint64_t largest() const;
  };
  // Of the peak that a device is known by.
  struct Peak {
    uint32_t device = 0;
    uint64_t step_peak = 0, step_fragmentation = 0, step_epoch = 1;
    uint64_t run_peak = 0, run_reserved = 0, run_fragmentation = 0, run_epoch = 1;
    uint32_t run_step = 0;
    uint32_t step_maker = DeviceSeries::kNoMaker;
    uint32_t concurrent_in = UINT32_MAX,
             concurrent_steps = 0;      // the last step with a site of several threads; how many
    std::vector<uint32_t> makers;       // of each complete step
    std::vector<uint64_t> last_epochs;  // of each complete step
    std::vector<uint64_t> step_peaks, step_fragmentations;
    uint64_t step_reserved = 0;
    std::vector<uint64_t> step_reserves;
    std::vector<bool> concurrent;
  };

  bool Counts(uint32_t step) const { return window_.whole_run || step < window_.end; }
  Peak& PeakOf(uint32_t scope);
  void Change(uint32_t site, uint32_t slot, uint64_t bytes, uint64_t objects, bool born);
  void ChangeHolder(uint32_t slot, uint64_t bytes, bool born, State* state);
  void Settle(uint32_t match);
  void AddToBlock(uint32_t match, uint32_t step, uint64_t live, uint64_t at_peak, uint64_t own);
  void NoteReserved(uint64_t reserved, Peak* peak);
  bool IsShown(size_t scope) const;
  DeviceSeries SeriesOf(const Peak& peak, const Scope& scope) const;
  uint32_t UsualMaker(const Peak& peak) const;
  SiteSeries Series(size_t match) const;

  const std::vector<uint32_t> match_of_site_;
  const StepWindow window_;
  const bool framework_, sums_;
  const Ledger* ledger_ = nullptr;
  std::vector<State> states_;
  std::vector<SiteTotals> totals_;
  std::vector<BlockSizes> sizes_;
  BlockNeighbours neighbours_;
  std::vector<BlockSums> blocks_;    // of match m those from m * window_.blocks on
  std::vector<MoreBlockSums> more_;  // likewise; empty: not wanted
  std::vector<double> mark_sums_;    // by block, where they are wanted
  std::vector<uint64_t> marks_in_;   // likewise
  std::vector<uint32_t> steps_in_block_;
  std::vector<Peak> peaks_;        // by scope
  uint32_t step_ = 0, block_ = 0;  // the present ones
  bool over_ = false;              // the compared part has ended
  std::map<uint32_t, DeviceSeries> devices_;
  EventSequence sequence_;
  double mark_sum_ = 0, marks_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_RUN_PROFILE_H_
