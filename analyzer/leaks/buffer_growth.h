// SPDX-License-Identifier: Apache-2.0
//
// Growth by replacement: a buffer that is replaced by a larger one again and again leaves no object behind, for each of
// them dies young. What grows is what the site never falls below again: the floor, at each step the lowest level from
// there to the end of the run.
#ifndef ANALYZER_LEAKS_BUFFER_GROWTH_H_
#define ANALYZER_LEAKS_BUFFER_GROWTH_H_

#include <cstdint>
#include <vector>

#include "analyzer/leaks/bootstrap.h"
#include "analyzer/leaks/step_levels.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

enum class BufferTrend {
  kNone,   // the floor does not grow, or by objects that are added and not replaced, or it has been given back before
  kGrows,  // the floor rises window after window
  kGrowsRarely,  // in a few large steps that keep pace with the run, as a buffer that is doubled when it is full
  kFades,        // it rises ever more slowly
  kUndecided,    // it rises, but has not done so for long enough
};

struct BufferGrowth {
  BufferTrend trend = BufferTrend::kNone;
  double bytes_per_step = 0;
  Interval interval;        // 95 %
  StepSpan span;            // in which it grew
  bool onset_seen = false;  // span.begin is when it began; otherwise it began before the first judged step
  uint32_t windows = 0;     // of equal length that the span is cut into
  uint32_t rises = 0;       // of these, those at whose end the floor is higher; of kGrowsRarely: how often it rose
  uint64_t from_bytes = 0, to_bytes = 0;  // the floor at both ends of the span
  uint64_t objects = 0;                   // that make up the floor at its end
  bool with_inputs = false;               // most of what the steps allocate grows alike, see DoubtGrowthWithInputs
  uint32_t resets = 0;                    // how often the site gave such a buffer back before
  Step further_steps = 0;                 // kUndecided: after so many more the answer is known if it goes on like this
  double p_value = 1;                     // how likely chance does this in a site that does not grow
};

// Pure and deterministic.
BufferGrowth JudgeLevels(const StepLevels& levels, const RunShape& run);

// How many times larger the objects that the site allocated in the later part of the run are than those before, the
// run's first eighth left out; 0 if it allocated too few to tell. `births`: as StepLevelsBuilder has them, and at the
// end.
double SizeRatio(const std::vector<SiteBirths>& births);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_BUFFER_GROWTH_H_
