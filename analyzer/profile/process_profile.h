// SPDX-License-Identifier: Apache-2.0
//
// What a process did step by step, site by site, in a few dozen blocks of steps: the samples that two runs are compared
// by, as plain data.
#ifndef ANALYZER_PROFILE_PROCESS_PROFILE_H_
#define ANALYZER_PROFILE_PROCESS_PROFILE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/profile/block_sizes.h"

namespace vramtrack {

// Which steps are compared, and how they are put together. Steps are indices.
struct StepWindow {
  uint32_t begin = 0, end = 0;  // the steps that are tested, after warm-up: [begin, end)
  bool whole_run = true;        // whether peaks are those of the whole run, or of the steps before `end`
  uint32_t per_unit = 1;        // so many steps make one: where the other run's steps are longer
  uint32_t blocks = 0;
  uint32_t granule = 1;      // units that are in one block together, as a summary cannot tell them apart
  uint32_t block_steps = 0;  // of each block; 0: all are as large as the others

  static constexpr uint32_t kBlocks = 24;  // enough for a test at 1 % with many sites

  uint32_t units() const { return (end - begin) / per_unit; }
  // The block that a step belongs to; `blocks` for one that is in none.
  uint32_t BlockOf(uint32_t step) const {
    if (step < begin || step >= begin + units() * per_unit) return blocks;
    if (block_steps != 0) return (step - begin) / block_steps;
    return static_cast<uint32_t>(uint64_t{step - begin} / per_unit / granule * blocks / (units() / granule));
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
  // Of each step before StepWindow::end, or of so many together: then the former only tell same ones from others.
  uint32_t steps_per_value = 1;
  std::vector<uint64_t> step_peaks;
  std::vector<uint64_t> floors;  // bytes live, at least
  uint64_t run_peak = 0, run_reserved_peak = 0, run_fragmentation = 0;
  uint32_t peak_step = 0;
  // The site whose allocation makes the peak of at least nine of ten steps; none: kNoMaker.
  uint32_t maker = kNoMaker;
  // Several threads hold memory of one site at a time: how much is there at once is up to how they are scheduled.
  bool concurrent = false;

  static constexpr uint32_t kNoMaker = UINT32_MAX;
};

struct ProcessProfile {
  StepWindow window;
  // By match.
  std::vector<SiteSeries> series;
  std::vector<SiteTotals> totals;
  std::vector<BlockSizes> sizes;
  std::map<uint32_t, DeviceSeries> devices;  // kHost for the host
  // The mean of what the compared steps' marks say of their size (tokens, samples), for steps that count as one; 0
  // where they say nothing.
  double step_size = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_PROCESS_PROFILE_H_
