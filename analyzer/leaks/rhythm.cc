// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/rhythm.h"

#include <algorithm>
#include <vector>

namespace vramtrack {
namespace {

// What these steps leave is set-up.
constexpr Step kSetup = 2;
// Since the last survivor at most so many times the longest gap; of two survivors, which have a single one, less.
constexpr double kStillGoing = 1.5, kStillGoingOfTwo = 1.25;
// A site that drops nearly all it makes keeps the rest for another reason, which may come at any time.
constexpr uint64_t kDrops = 10;
constexpr double kStillGoingOfDropped = 3;
// Of three survivors the gaps are no further apart than this.
constexpr double kAlike = 3;
constexpr size_t kEnough = 3;
// As regular as a clock but for a step that is cut elsewhere.
constexpr Step kJitter = 1;
// After the last step so many objects at once, and such a share of what a step left, are no single one in use.
constexpr uint32_t kFewestInTail = 5;
constexpr double kTailShare = 0.5;

// A site that never freed anything and keeps on allocating after the last complete step: as an evaluation after the
// last epoch, whose outputs are kept like those of the epochs before.
bool TailKeeps(const SiteHistory& history, const SurvivorSeries& survivors) {
  if (history.died_objects > 0 || survivors.empty() || history.tail_objects < kFewestInTail) return false;
  return history.tail_objects >= kTailShare * survivors.back().objects;
}

}  // namespace

Rhythm RhythmOf(const SiteHistory& history, const RunShape& run, Step tested_end) {
  Rhythm rhythm;
  rhythm.end = history.died_objects == 0 ? run.steps : std::min(tested_end, run.steps);
  rhythm.survivors = SurvivorsIn(history, {std::min(kSetup, rhythm.end), rhythm.end});
  // What warm-up left may be another matter, where there is enough without it.
  const SurvivorSeries later = Within(rhythm.survivors, {run.warmup_end, rhythm.end});
  if (later.size() >= kEnough) rhythm.survivors = later;
  if (TailKeeps(history, rhythm.survivors)) {
    rhythm.survivors.push_back({run.steps, history.tail_objects, history.tail_bytes});
    rhythm.end = run.steps + 1;
  }
  rhythm.drops = history.died_objects > 0 && history.died_objects >= kDrops * TotalOf(rhythm.survivors).objects;
  return rhythm;
}

bool GoesOn(const Rhythm& rhythm) {
  const SurvivorSeries& survivors = rhythm.survivors;
  if (survivors.size() < 2) return false;
  double longest = 0, shortest = rhythm.end;
  for (size_t i = 1; i < survivors.size(); ++i) {
    const double gap = survivors[i].step - survivors[i - 1].step;
    longest = std::max(longest, gap);
    shortest = std::min(shortest, gap);
  }
  const double since = rhythm.end - survivors.back().step;
  if (rhythm.drops && survivors.size() <= kEnough) {
    return since <= kStillGoingOfDropped * longest + 1 && survivors[0].step <= kStillGoingOfDropped * longest + kSetup;
  }
  if (survivors.size() == 2) {
    return since <= kStillGoingOfTwo * longest + 1 && survivors[0].step <= kStillGoingOfTwo * longest + kSetup;
  }
  if (since > kStillGoing * longest + 1) return false;
  return survivors.size() > 3 || longest <= kAlike * shortest;
}

bool IsRegular(const Rhythm& rhythm) {
  const SurvivorSeries& survivors = rhythm.survivors;
  if (survivors.size() < kEnough || !GoesOn(rhythm)) return false;
  Step longest = 0, shortest = rhythm.end;
  for (size_t i = 1; i < survivors.size(); ++i) {
    longest = std::max(longest, survivors[i].step - survivors[i - 1].step);
    shortest = std::min(shortest, survivors[i].step - survivors[i - 1].step);
  }
  return longest - shortest <= kJitter;
}

SiteHistory Extended(const SiteHistory& history, const Rhythm& rhythm, Step steps, uint64_t order) {
  SiteHistory extended = history;
  const SurvivorSeries& survivors = rhythm.survivors;
  if (survivors.empty()) return extended;
  // What is alive of the latest steps, and does not count yet, would have been freed.
  while (!extended.cohorts.empty() && extended.cohorts.back().step >= rhythm.end) extended.cohorts.pop_back();
  const auto leave = [&extended](Step step, const Survivors& like) {
    Cohort cohort;
    cohort.step = step;
    cohort.born_objects = cohort.live_objects = like.objects;
    cohort.born_bytes = cohort.live_bytes = like.bytes;
    extended.cohorts.push_back(cohort);
    extended.born_objects += like.objects;
    extended.born_bytes += like.bytes;
    extended.last_birth = step;
    ++extended.birth_steps;
  };
  // What came after the last complete step is in one of the steps that are added.
  if (const Survivors& last = survivors.back(); last.step + 1 == rhythm.end && last.step < steps) {
    if (extended.cohorts.empty() || extended.cohorts.back().step < last.step) leave(last.step, last);
  }
  extended.tail_objects = 0;
  extended.tail_bytes = 0;
  std::vector<Step> gaps;
  for (size_t i = 1; i < survivors.size(); ++i) gaps.push_back(survivors[i].step - survivors[i - 1].step);
  if (gaps.empty()) gaps.push_back(std::max<Step>({1, survivors[0].step, rhythm.end - survivors[0].step}));
  const bool regular = std::all_of(gaps.begin(), gaps.end(), [&](Step gap) { return gap == gaps[0]; });
  uint64_t step = survivors.back().step, draw = order;
  for (size_t turn = 0;; ++turn) {
    // An order that never comes back: gaps that vary must not make a period.
    draw = draw * 6364136223846793005u + 1442695040888963407u;
    const size_t which = regular ? turn % gaps.size() : (draw >> 33) % gaps.size();
    step += gaps[which];
    // Nothing came where something could have.
    if (step < rhythm.end) step = rhythm.end;
    if (step >= steps) break;
    const Survivors& like =
        survivors[survivors.size() - gaps.size() + which < survivors.size() ? survivors.size() - gaps.size() + which
                                                                            : survivors.size() - 1];
    leave(static_cast<Step>(step), like);
  }
  return extended;
}

RunShape Extended(const RunShape& run, Step steps) {
  RunShape extended = run;
  // Warm-up that is longer than a tenth of the run came from a change of structure and stays where it is.
  const bool settled_late = run.warmup_end > WarmupEnd(run.steps);
  extended.steps = steps;
  extended.warmup_end = WarmupEnd(steps, settled_late ? run.warmup_end : 0);
  return extended;
}

}  // namespace vramtrack
