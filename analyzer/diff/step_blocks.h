// SPDX-License-Identifier: Apache-2.0
//
// What a process did step by step, site by site, in a few dozen blocks of steps: the samples that two runs are compared
// by, as plain data.
#ifndef ANALYZER_DIFF_STEP_BLOCKS_H_
#define ANALYZER_DIFF_STEP_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/profile/block_sizes.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

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
  std::map<DeviceIndex, DeviceSeries> devices;
  // The mean of what the compared steps' marks say of their size (tokens, samples), for steps that count as one; 0
  // where they say nothing.
  double step_size = 0;
};

// Puts windows of steps together to blocks. `members`: of each match, indices of the profile's sites. `window` begins,
// ends and parts its blocks where windows of the profile do.
ProcessProfile BlocksOf(const StepProfile& profile, const std::vector<std::vector<size_t>>& members,
                        const StepWindow& window);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_STEP_BLOCKS_H_
