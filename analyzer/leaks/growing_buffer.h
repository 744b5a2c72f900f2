// SPDX-License-Identifier: Apache-2.0
//
// The verdict on growth by replacement, where the test of survivors found nothing that stays.
#ifndef ANALYZER_LEAKS_GROWING_BUFFER_H_
#define ANALYZER_LEAKS_GROWING_BUFFER_H_

#include <vector>

#include "analyzer/leaks/cohort.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/step_levels.h"

namespace vramtrack {

// Whether JudgeGrowingBuffer could change the verdict: leaks stay what they are, and segments of a framework's
// allocator are not judged by their size.
bool MayBeGrowingBuffer(const LeakVerdict& verdict, const SiteContext& context);

// Makes a growing_buffer (or a minor_leak, sublinear or insufficient_evidence) of the verdict that JudgeSite gave if
// the site's objects are replaced by larger ones. Explains what it changed.
void JudgeGrowingBuffer(const StepLevels& levels, const SiteHistory& history, const RunShape& run,
                        const SiteContext& context, LeakVerdict* verdict);

// How the objects of a site change in size.
struct ObjectSizes {
  double ratio = 0;   // SizeRatio(); 0: not known
  double mean = 0;    // bytes
  uint32_t rank = 0;  // of the site, by its first allocation: in a step's order, as a rule
};

// Inputs that become larger as a run goes on (a curriculum, batches sorted by length) look like buffers that grow
// wherever they outlive a step. They make everything grow that is computed from them. Makes insufficient_evidence of a
// growing buffer if more than half of `others` grow along, or one that a step allocates before the buffer, and that is
// not small beside it. `others`: the sites that allocate in half of the steps at least, on the same device, but for
// those that look like growing buffers themselves. `own`: of the site.
void DoubtGrowthWithInputs(const ObjectSizes& own, const std::vector<ObjectSizes>& others, const SiteHistory& history,
                           const RunShape& run, LeakVerdict* verdict);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_GROWING_BUFFER_H_
