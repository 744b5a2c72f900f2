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
// The judged steps are so many times as long as an object lives: none of them stays.
constexpr Step kLifetimes = 8;

// Whether all that is alive was allocated lately, as all that was freed had been.
bool NoneStays(const SiteHistory& history, const RunShape& run) {
  const Step lifetime = std::max<Step>(1, history.max_completed_lifetime_steps);
  if (history.died_objects == 0 || run.steps < run.warmup_end + kLifetimes * lifetime) return false;
  return std::all_of(history.cohorts.begin(), history.cohorts.end(), [&](const Cohort& cohort) {
    return cohort.live_objects == 0 || cohort.step + lifetime + 1 >= run.steps;
  });
}

}  // namespace

bool MayBeGrowingBuffer(const LeakVerdict& verdict, const SiteContext& context) {
  return !IsLeak(verdict.verdict) && verdict.verdict != Verdict::kFragmentationGrowth &&
         context.segments == SegmentRole::kNone;
}

void JudgeGrowingBuffer(const StepLevels& levels, const SiteHistory& history, const RunShape& run,
                        const SiteContext& context, LeakVerdict* verdict) {
  if (!MayBeGrowingBuffer(*verdict, context)) return;
  const BufferGrowth growth = JudgeLevels(levels, run, NoneStays(history, run));
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
  const BufferGrowth& buffer = verdict->evidence.buffer;
  const auto ratio = [&](const ObjectSizes& sizes) { return buffer.more_objects ? sizes.numbers : sizes.ratio; };
  if (buffer.trend == BufferTrend::kNone || !IsLeak(verdict->verdict) || ratio(own) <= 1) return;
  size_t known = 0, along = 0;
  bool before = false;
  for (const ObjectSizes& other : others) {
    if (ratio(other) <= 0) continue;
    ++known;
    if (ratio(other) - 1 < kGrowsAlong * (ratio(own) - 1)) continue;
    ++along;
    before |= other.rank < own.rank && other.mean >= kInputShare * own.mean;
  }
  const bool most = (known >= kLeastOthers && 2 * along > known) || (along >= kManyAlong && kManyShare * along > known);
  if (before || most) DoubtAsInputs(history, run, verdict);
}

void DoubtAsInputs(const SiteHistory& history, const RunShape& run, LeakVerdict* verdict) {
  verdict->verdict = Verdict::kInsufficientEvidence;
  verdict->evidence.buffer.with_inputs = true;
  verdict->doubt =
      verdict->evidence.buffer.more_objects
          ? "a line keeps more and more objects for a while, together with what else the steps allocate, as it does "
            "when there are more inputs"
          : "a buffer grows together with what else the steps allocate, as it does when the inputs become longer";
  verdict->onset_step.reset();
  verdict->further_steps_needed = 0;
  verdict->explanation = Explain(*verdict, history, run, {});
}

}  // namespace vramtrack
