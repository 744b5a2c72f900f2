// SPDX-License-Identifier: Apache-2.0
//
// What a process did in each step, by site, averaged over a few dozen blocks of steps. These are the samples with which
// two runs are compared, as plain data.
#ifndef ANALYZER_DIFF_STEP_BLOCKS_H_
#define ANALYZER_DIFF_STEP_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/diff/significance.h"
#include "analyzer/profile/block_sizes.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// The mean of each block, per step (per_unit steps count as one).
struct SiteSeries {
  std::vector<double> live;     // bytes live when a step ends
  std::vector<double> at_peak;  // bytes live at the device's peak in the step
  // The most bytes that one thread holds in the step, regardless of other sites and threads.
  std::vector<double> own;
  std::vector<double> bytes;  // bytes allocated
};

// One side of a match. All fields are zero if the site does not exist in that run.
struct SiteEvidence {
  bool present = false;
  SiteSeries series;
  uint64_t bytes_at_peak = 0;    // bytes at the peak of the compared part of the run
  uint64_t own_peak = 0;         // the most bytes of one thread in that part
  bool several_threads = false;  // several threads held memory of the site at the same time
  BlockSizes sizes;
  ProfileRate rate;  // of what is left behind
  bool leak = false;
  bool judged = true;  // the steps were enough for a verdict
};

struct DeviceSeries {
  std::vector<double> peak;           // the most live bytes in a step
  std::vector<double> fragmentation;  // bytes reserved and not live, at that moment
  // One value for each step before StepWindow::end, or for each group of `steps_per_value` steps. For groups,
  // step_peaks can only be compared for equality.
  uint32_t steps_per_value = 1;
  std::vector<uint64_t> step_peaks;
  std::vector<uint64_t> floors;  // the least live bytes
  uint64_t run_peak = 0, run_reserved_peak = 0, run_fragmentation = 0;
  uint32_t peak_step = 0;
  // The site whose allocation makes the peak of at least nine of ten steps; kNoMaker if there is none.
  uint32_t maker = kNoMaker;
  // Several threads hold memory of one site at the same time, so that the total depends on how they are scheduled.
  bool concurrent = false;

  static constexpr uint32_t kNoMaker = UINT32_MAX;
};

struct MeasuredRun {
  std::vector<SiteEvidence> sites;                          // one entry for each match
  std::map<std::optional<uint32_t>, DeviceSeries> devices;  // none: the host
  // The mean size of the compared steps (tokens, samples), by their marks, for steps that count as one; 0 if the marks
  // have no size.
  double step_size = 0;
};

// Groups the windows of steps into blocks. `members` are, for each match, indices of the profile's sites. The bounds of
// `window` and of its blocks are bounds of windows in the profile. `rate_scale`: see ComparedProcess.
MeasuredRun Measured(const StepProfile& profile, const std::vector<std::vector<size_t>>& members,
                     const StepWindow& window, double rate_scale);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_STEP_BLOCKS_H_
