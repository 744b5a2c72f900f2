// SPDX-License-Identifier: Apache-2.0
//
// Detects growth by replacement: a buffer that is replaced by a larger one again and again, or objects that are
// replaced by more of them, such as what hooks keep of the last pass if each step adds a hook. No object is left
// behind, because each is freed soon. What grows is the floor: at each step, the lowest level from there to the end of
// the run.
#ifndef ANALYZER_LEAKS_BUFFER_GROWTH_H_
#define ANALYZER_LEAKS_BUFFER_GROWTH_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/statistics.h"
#include "analyzer/leaks/step_levels.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

enum class BufferTrend {
  kNone,         // the floor does not grow, or grows by objects that stay, or was released before
  kGrows,        // the floor rises in window after window
  kGrowsRarely,  // it rises in a few large steps that keep pace with the run, like a buffer that doubles when full
  kFades,        // it rises more and more slowly
  kUndecided,    // it rises, but not yet for long enough
};

struct BufferGrowth {
  BufferTrend trend = BufferTrend::kNone;
  double bytes_per_step = 0;
  Interval interval;        // 95 %
  StepSpan span;            // the steps in which it grew
  bool onset_seen = false;  // span.begin is when it began; otherwise it began before the first judged step
  uint32_t windows = 0;     // number of windows of equal length in the span
  uint32_t rises = 0;       // windows at whose end the floor is higher; for kGrowsRarely: how often it rose
  uint64_t from_bytes = 0, to_bytes = 0;  // the floor at both ends of the span
  uint64_t objects = 0;                   // objects that make up the floor at the end of the span
  bool more_objects = false;              // it grew by more objects rather than by larger ones
  bool with_inputs = false;               // most of what the steps allocate grows alike, see DoubtGrowthWithInputs
  uint32_t resets = 0;                    // how often the site released such a buffer before
  Step further_steps = 0;                 // kUndecided: more steps that decide it if it continues like this
  double p_value = 1;                     // probability of this by chance at a site that does not grow
};

// Returns how the floor of a site's levels grows. `none_stays`: the site's objects are freed soon, so that more of them
// are growth by replacement as well. Pure and deterministic.
BufferGrowth JudgeLevels(const StepLevels& levels, const RunShape& run, bool none_stays = false);

// Returns the mean size of the objects that a site allocated in the later part of the run, divided by that of the
// earlier ones. Leaves out the first eighth of the run. Returns 0 if the site allocated too few objects. `births`:
// those of StepLevelsBuilder, followed by the total at the end of the run.
double SizeRatio(const std::vector<SiteBirths>& births);

// Returns the same for the number of objects in a step.
double NumberRatio(const std::vector<SiteBirths>& births);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_BUFFER_GROWTH_H_
