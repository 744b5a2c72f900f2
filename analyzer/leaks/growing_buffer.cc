// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/growing_buffer.h"

#include <algorithm>

#include "analyzer/leaks/explanation.h"
#include "analyzer/leaks/rate.h"

namespace vramtrack {
namespace {

// Of the relative growth of the buffer itself: sizes have a part that does not grow, and allocators round.
constexpr double kGrowsAlong = 0.3;
constexpr size_t kLeastOthers = 3;
// A training step also allocates gradients and what its optimizer needs, which inputs do not enlarge. An attention over
// a cache that grows is a few sites of a step.
constexpr size_t kManyAlong = 6, kManyShare = 4;
// Of the buffer's size: scores of an attention over it, or a mask, are smaller.
constexpr double kInputShare = 0.1;

}  // namespace

bool MayBeGrowingBuffer(const LeakVerdict& verdict, const SiteContext& context) {
  return !IsLeak(verdict.verdict) && verdict.verdict != Verdict::kFragmentationGrowth &&
         context.segments == SegmentRole::kNone;
}

void JudgeGrowingBuffer(const StepLevels& levels, const SiteHistory& history, const RunShape& run,
                        const SiteContext& context, LeakVerdict* verdict) {
  if (!MayBeGrowingBuffer(*verdict, context)) return;
  const BufferGrowth growth = JudgeLevels(levels, run);
  // Each rise but the first has replaced an object at least.
  if (growth.trend == BufferTrend::kNone || history.died_objects + 1 < growth.rises) return;
  LeakEvidence& evidence = verdict->evidence;
  evidence.buffer = growth;
  verdict->onset_step.reset();
  verdict->further_steps_needed = 0;
  verdict->rate_bytes_per_step = verdict->rate_objects_per_step = 0;
  verdict->rate_ci_low = verdict->rate_ci_high = 0;
  switch (growth.trend) {
    case BufferTrend::kNone:
    case BufferTrend::kFades:
      verdict->verdict = Verdict::kSublinear;
      break;
    case BufferTrend::kUndecided:
      verdict->verdict = Verdict::kInsufficientEvidence;
      verdict->further_steps_needed = std::max<Step>(1, growth.further_steps);
      break;
    case BufferTrend::kGrows:
    case BufferTrend::kGrowsRarely: {
      verdict->rate_bytes_per_step = growth.bytes_per_step;
      verdict->rate_ci_low = growth.interval.low;
      verdict->rate_ci_high = growth.interval.high;
      verdict->p_value = growth.p_value;
      evidence.leaking = growth.span;
      if (growth.onset_seen) verdict->onset_step = growth.span.begin;
      Rate rate;
      rate.bytes_per_step = growth.bytes_per_step;
      verdict->verdict = IsMaterial(rate, run) ? Verdict::kGrowingBuffer : Verdict::kMinorLeak;
      break;
    }
  }
  verdict->explanation = Explain(*verdict, history, run, context);
}

void DoubtGrowthWithInputs(const ObjectSizes& own, const std::vector<ObjectSizes>& others, const SiteHistory& history,
                           const RunShape& run, LeakVerdict* verdict) {
  if (verdict->evidence.buffer.trend == BufferTrend::kNone || !IsLeak(verdict->verdict) || own.ratio <= 1) return;
  size_t known = 0, along = 0;
  bool before = false;
  for (const ObjectSizes& other : others) {
    if (other.ratio <= 0) continue;
    ++known;
    if (other.ratio - 1 < kGrowsAlong * (own.ratio - 1)) continue;
    ++along;
    before |= other.rank < own.rank && other.mean >= kInputShare * own.mean;
  }
  const bool most = (known >= kLeastOthers && 2 * along > known) || (along >= kManyAlong && kManyShare * along > known);
  if (!before && !most) return;
  verdict->verdict = Verdict::kInsufficientEvidence;
  verdict->evidence.buffer.with_inputs = true;
  verdict->doubt =
      "a buffer grows together with what else the steps allocate, as it does when the inputs become longer";
  verdict->onset_step.reset();
  verdict->further_steps_needed = 0;
  verdict->explanation = Explain(*verdict, history, run, {});
}

}  // namespace vramtrack
