// SPDX-License-Identifier: Apache-2.0
//
// Which sites changed by more than chance, and in what.
#ifndef ANALYZER_DIFF_SITE_COMPARISON_H_
#define ANALYZER_DIFF_SITE_COMPARISON_H_

#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/significance.h"
#include "analyzer/diff/step_blocks.h"

namespace vramtrack {

// One side of a match. All zero where the site is not there.
struct SiteEvidence {
  bool present = false;
  SiteSeries series;
  SiteTotals totals;
  const BlockSizes* sizes = nullptr;  // none: nothing is there
  RateInterval rate;                  // of what is left behind
  double objects_per_step = 0;        // left behind
  bool leak = false;
  bool judged = true;  // the steps were enough for a verdict
};

struct SitePair {
  SiteEvidence base, next;
  bool handle = false;
  bool in_step = false;  // the runs do the same at the same step, see device_comparison.h
  // The same site's allocation makes the peak in both, and how much this one holds then is not up to several threads.
  bool same_peak = false;
};

struct SiteChange {
  bool found = false;  // more than chance, and enough to matter
  bool small = false;  // there is a difference, but it does not matter
  std::string unit;    // as DiffFinding has it
  double base = 0, next = 0;
  std::optional<double> p_value, effect_size;
};

// One entry a pair. `tested`: there are samples; without them what differs is found by its amount alone. `whole_runs`:
// the runs are equally long.
std::vector<SiteChange> CompareSites(const std::vector<SitePair>& pairs, bool tested, bool whole_runs);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SITE_COMPARISON_H_
