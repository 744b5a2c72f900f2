// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_DEVICE_COMPARISON_H_
#define ANALYZER_DIFF_DEVICE_COMPARISON_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/diff/step_blocks.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// What the sites of a device hold together, in bytes.
struct SitesOfDevice {
  struct Category {
    std::vector<double> base, next;  // at the steps' peaks, one value for each block
    double base_at_peak = 0, next_at_peak = 0;
  };
  std::map<std::string, Category> categories;
  std::vector<double> base_own, next_own;  // on their own, see SiteSeries::own: one value for each block
};

// Returns whether both runs do the same at the same step, so that a difference is not random: most steps have the same
// peak to the byte, and the highest is in the same step.
bool InStep(const DeviceSeries& base, const DeviceSeries& next);

// Compares a device of two runs. `index` is that of the new run's device. The windows are those of the profiles from
// which the series come.
DiffDevice CompareDevices(uint32_t index, const DeviceSeries& base, const StepWindow& base_window,
                          const DeviceSeries& next, const StepWindow& next_window, const SitesOfDevice& sites);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_DEVICE_COMPARISON_H_
