// SPDX-License-Identifier: Apache-2.0
//
// Judges growth by replacement at sites where the survivor test found no leak.
#ifndef ANALYZER_LEAKS_GROWING_BUFFER_H_
#define ANALYZER_LEAKS_GROWING_BUFFER_H_

#include <vector>

#include "analyzer/leaks/cohort.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/step_levels.h"

namespace vramtrack {

// Returns whether JudgeGrowingBuffer could change the verdict. It does not change leaks, and does not judge segments of
// a framework's allocator by their size.
bool MayBeGrowingBuffer(const LeakVerdict& verdict, const SiteContext& context);

// Changes the verdict of JudgeSite to growing_buffer (or minor_leak, sublinear or insufficient_evidence) if the site's
// objects are replaced by larger ones, or by more of them. Then writes a new explanation.
void JudgeGrowingBuffer(const StepLevels& levels, const SiteHistory& history, const RunShape& run,
                        const SiteContext& context, LeakVerdict* verdict);

// The sizes and numbers of a site's objects.
struct ObjectSizes {
  double ratio = 0;    // result of SizeRatio(); 0: unknown
  double mean = 0;     // mean size, in bytes
  uint32_t rank = 0;   // of the site, by its first allocation; usually the order within a step
  double numbers = 0;  // result of NumberRatio(); 0: unknown
};

// Changes a growing_buffer to insufficient_evidence if larger inputs may be the reason. Inputs that become larger
// during a run (a curriculum, batches sorted by length) look like growing buffers if they outlive a step, but
// everything that is computed from them grows too. The verdict is changed if more than half of `others` grow with the
// buffer, or more than a quarter and at least six, or if one grows that a step allocates before the buffer and that is
// not small compared with it. `own`: the site's own sizes. `others`: the sites on the same device that allocate in at
// least half of the steps, except those that look like growing buffers themselves.
void DoubtGrowthWithInputs(const ObjectSizes& own, const std::vector<ObjectSizes>& others, const SiteHistory& history,
                           const RunShape& run, LeakVerdict* verdict);

// Changes the verdict whatever the sizes are, for a buffer that grows together with one whose verdict was changed.
void DoubtAsInputs(const SiteHistory& history, const RunShape& run, LeakVerdict* verdict);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_GROWING_BUFFER_H_
