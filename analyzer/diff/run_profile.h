// SPDX-License-Identifier: Apache-2.0
//
// What a process did step by step, site by site, in a few dozen blocks of steps: the samples that two runs are compared
// by. Filled by the second replay.
#ifndef ANALYZER_DIFF_RUN_PROFILE_H_
#define ANALYZER_DIFF_RUN_PROFILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/diff/block_sizes.h"
#include "analyzer/diff/event_sequence.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"

namespace vramtrack {

// Which steps are compared, and how they are put together. Steps are indices.
struct StepWindow {
  uint32_t begin = 0, end = 0;  // the steps that are tested, after warm-up: [begin, end)
  bool whole_run = true;        // whether peaks are those of the whole run, or of the steps before `end`
  uint32_t per_unit = 1;        // so many steps make one: where the other run's steps are longer
  uint32_t blocks = 0;

  static constexpr uint32_t kBlocks = 24;  // enough for a test at 1 % with many sites

  uint32_t units() const { return (end - begin) / per_unit; }
  // The block that a step belongs to; `blocks` for one that is in none.
  uint32_t BlockOf(uint32_t step) const {
    if (step < begin || step >= begin + units() * per_unit) return blocks;
    return static_cast<uint32_t>(uint64_t{step - begin} / per_unit * blocks / units());
  }
};

// The mean of each block, per step (of which per_unit make one).
struct SiteSeries {
  std::vector<double> live;     // bytes, when a step ends
  std::vector<double> at_peak;  // bytes, when the device has most in the step
  std::vector<double> own;      // bytes of one thread, at most in the step: whatever the other sites and threads do
  std::vector<double> bytes;    // allocated
  std::vector<double> births;
};

struct SiteTotals {
  uint64_t bytes_at_peak = 0;    // at the peak of the compared part of the run
  uint64_t own_peak = 0;         // of one thread, at most in that part
  uint64_t live_bytes = 0;       // at its end
  bool several_threads = false;  // held memory of it at a time
  uint64_t allocations = 0, bytes_allocated = 0;
};

struct DeviceSeries {
  std::vector<double> peak;           // bytes live, at most in a step
  std::vector<double> fragmentation;  // bytes reserved and not live, at that moment
  std::vector<uint64_t> step_peaks;   // of each step before StepWindow::end
  std::vector<uint64_t> floors;       // bytes live, at least in each of these steps
  uint64_t run_peak = 0, run_reserved_peak = 0, run_fragmentation = 0;
  uint32_t peak_step = 0;
  // The site whose allocation makes the peak of at least nine of ten steps; none: kNoMaker.
  uint32_t maker = kNoMaker;
  // Several threads hold memory of one site at a time: how much is there at once is up to how they are scheduled.
  bool concurrent = false;

  static constexpr uint32_t kNoMaker = UINT32_MAX;
};

// Sites are the matches' numbers: `match_of_site` gives that of each site of the ledger. Not movable during a replay.
class RunProfile : public ReplayObserver {
 public:
  // `framework`: the trace has blocks of a framework's allocator.
  RunProfile(std::vector<uint32_t> match_of_site, size_t matches, const StepWindow& window, bool framework);

  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnFold(uint32_t site, uint64_t objects, uint64_t bytes, bool born) override;
  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& event) override;
  // After the replay, while its ledger is there.
  void Finish();

  const StepWindow& window() const { return window_; }
  SiteSeries Series(size_t match) const;
  const BlockSizes& Sizes(size_t match) const { return sizes_[match]; }
  const SiteTotals& Totals(size_t match) const { return totals_[match]; }
  // By device; kHost for the host.
  const std::map<uint32_t, DeviceSeries>& devices() const { return devices_; }
  const EventSequence& sequence() const { return sequence_; }
  // The mean of what the compared steps' marks say of their size (tokens, samples), for steps that count as one; 0
  // where they say nothing.
  double step_size() const { return marks_ == 0 ? 0 : mark_sum_ / marks_ * window_.per_unit; }

 private:
  struct Block {
    double live = 0, at_peak = 0, own = 0, bytes = 0, births = 0;
  };
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
    std::vector<uint64_t> step_peaks, step_fragmentations, floors;
  };

  bool Counts(uint32_t step) const { return window_.whole_run || step < window_.end; }
  Peak& PeakOf(uint32_t scope);
  void Change(uint32_t site, uint32_t slot, uint64_t bytes, uint64_t objects, bool born);
  void ChangeHolder(uint32_t slot, uint64_t bytes, bool born, State* state);
  void Settle(uint32_t match);
  void AddToBlock(uint32_t match, uint32_t step, uint64_t live, uint64_t at_peak, uint64_t own);
  uint32_t UsualMaker(const Peak& peak) const;

  const std::vector<uint32_t> match_of_site_;
  const StepWindow window_;
  const bool framework_;
  const Ledger* ledger_ = nullptr;
  std::vector<State> states_;
  std::vector<SiteTotals> totals_;
  std::vector<BlockSizes> sizes_;
  BlockNeighbours neighbours_;
  std::vector<Block> blocks_;  // of match m those from m * window_.blocks on
  std::vector<uint32_t> steps_in_block_;
  std::vector<Peak> peaks_;        // by scope
  uint32_t step_ = 0, block_ = 0;  // the present ones
  bool over_ = false;              // the compared part has ended
  std::map<uint32_t, DeviceSeries> devices_;
  EventSequence sequence_;
  double mark_sum_ = 0, marks_ = 0;
};

// A replay that keeps events [begin, end) of the sequence.
class SequencePart : public ReplayObserver {
 public:
  SequencePart(const std::vector<uint32_t>& match_of_site, uint64_t begin, uint64_t end)
      : match_of_site_(match_of_site), begin_(begin), end_(end) {}

  void OnAllocate(const ReplayAllocation& allocated) override { Add(allocated, true); }
  void OnFree(const ReplayAllocation& freed) override { Add(freed, false); }

  const std::vector<SequenceEvent>& events() const { return events_; }

 private:
  void Add(const ReplayAllocation& event, bool born);

  const std::vector<uint32_t>& match_of_site_;
  const uint64_t begin_, end_;
  uint64_t at_ = 0;
  std::vector<SequenceEvent> events_;
};

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_RUN_PROFILE_H_
