// SPDX-License-Identifier: Apache-2.0
//
// Finds the sites that changed by more than chance, and the figures that changed.
#ifndef ANALYZER_DIFF_SITE_COMPARISON_H_
#define ANALYZER_DIFF_SITE_COMPARISON_H_

#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/significance.h"
#include "analyzer/diff/step_blocks.h"

namespace vramtrack {

struct SitePair {
  SiteEvidence base, next;
  bool handle = false;
  bool in_step = false;  // the runs do the same at the same step, see device_comparison.h
  // The same site's allocation makes the peak in both runs, and what this site holds at that moment does not depend on
  // the scheduling of threads.
  bool same_peak = false;
};

struct SiteChange {
  bool found = false;  // the change is more than chance, and large enough to matter
  bool small = false;  // there is a difference, but it does not matter
  ChangeUnit unit = ChangeUnit::kBytesLivePerStep;
  double base = 0, next = 0;
  std::optional<double> p_value, effect_size;
};

// Returns one entry for each pair. `tested` is true if there are samples; without samples only the amount of a
// difference counts. `whole_runs` is true if the runs are equally long.
std::vector<SiteChange> CompareSites(const std::vector<SitePair>& pairs, bool tested, bool whole_runs);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SITE_COMPARISON_H_
