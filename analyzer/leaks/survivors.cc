// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/survivors.h"

#include <algorithm>
#include <cmath>

namespace vramtrack {

SurvivorSeries SurvivorsIn(const SiteHistory& history, StepSpan span) {
  SurvivorSeries series;
  for (const Cohort& cohort : history.cohorts) {
    if (cohort.live_objects == 0 || cohort.step < span.begin || cohort.step >= span.end) continue;
    series.push_back({cohort.step, cohort.live_objects, cohort.live_bytes});
  }
  return series;
}

SurvivorSeries Within(const SurvivorSeries& series, StepSpan span) {
  SurvivorSeries within;
  for (const Survivors& at : series) {
    if (at.step >= span.begin && at.step < span.end) within.push_back(at);
  }
  return within;
}

SurvivorTotal TotalOf(const SurvivorSeries& series) {
  SurvivorTotal total;
  for (const Survivors& at : series) {
    total.objects += at.objects;
    total.bytes += at.bytes;
    ++total.steps;
  }
  return total;
}

namespace {

constexpr size_t kMinCommonSteps = 4;
// Of the steps in which either has survivors, at most one in this many may lack the other's.
constexpr size_t kStepsPerMiss = 20;
constexpr size_t kStepsToBeLate = 3;

struct Overlap {
  size_t common = 0, apart = 0;
};

// `late`: how many steps `b` comes after `a`.
Overlap OverlapOf(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span, int late) {
  Overlap overlap;
  const auto inside = [&](const Survivors& at, int shift) {
    const int64_t step = static_cast<int64_t>(at.step) - shift;
    return step >= span.begin && step < span.end;
  };
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && !inside(a[i], 0)) {
      ++i;
      continue;
    }
    if (j < b.size() && !inside(b[j], late)) {
      ++j;
      continue;
    }
    const int64_t left = i < a.size() ? a[i].step : INT64_MAX;
    const int64_t right = j < b.size() ? static_cast<int64_t>(b[j].step) - late : INT64_MAX;
    if (left == right) {
      ++overlap.common;
    } else {
      ++overlap.apart;
    }
    if (left <= right) ++i;
    if (right <= left) ++j;
  }
  return overlap;
}

}  // namespace

bool SameSteps(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span) {
  for (const int late : {0, 1, -1}) {
    StepSpan compared = span;
    if (late != 0) {
      // Among many steps with survivors a step more or less would make others of them.
      if (Within(a, span).size() * kStepsToBeLate > span.size()) return false;
      // Objects of late in the last step are not seen.
      ++compared.begin;
      --compared.end;
    }
    const Overlap overlap = OverlapOf(a, b, compared, late);
    if (overlap.common >= kMinCommonSteps && overlap.apart * kStepsPerMiss <= overlap.common + overlap.apart)
      return true;
  }
  return false;
}

bool SameAmounts(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span) {
  const SurvivorSeries left = Within(a, span), right = Within(b, span);
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i].objects != right[i].objects || left[i].bytes != right[i].bytes) return false;
  }
  return true;
}

SurvivorSeries SumOf(const SurvivorSeries& a, const SurvivorSeries& b) {
  SurvivorSeries sum;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].step < b[j].step)) {
      sum.push_back(a[i++]);
    } else if (i == a.size() || b[j].step < a[i].step) {
      sum.push_back(b[j++]);
    } else {
      sum.push_back({a[i].step, a[i].objects + b[j].objects, a[i].bytes + b[j].bytes});
      ++i;
      ++j;
    }
  }
  return sum;
}

namespace {

// Splits survivors into those that are older than any object that was freed, and recent ones.
void Split(const SurvivorSeries& survivors, Evidence* evidence) {
  evidence->end = evidence->steps > evidence->longest + 1 ? evidence->steps - 1 - evidence->longest : 0;
  for (const Survivors& at : survivors) {
    if (at.step < evidence->end) {
      evidence->left.push_back(at);
    } else if (at.step < evidence->steps) {
      evidence->recent += at.objects;
    }
  }
}

}  // namespace

Evidence EvidenceOfSurvivors(const SiteHistory& history, Step steps) {
  Evidence evidence;
  evidence.steps = steps;
  evidence.longest = history.max_completed_lifetime_steps;
  evidence.drops = 2 * history.died_objects >= history.born_objects;
  Split(SurvivorsIn(history, {0, steps}), &evidence);
  if (evidence.longest == 0) return evidence;
  // Of objects that were alive at one time, as many releases are independent as lives follow each other.
  const Step first = history.deaths.empty() ? history.first_birth
                                            : std::min(history.first_birth, history.deaths.front().step),
             last = history.deaths.empty() ? steps : history.deaths.back().step;
  const double lives = std::max(1.0, (last + 1.0 - first) / (evidence.longest + 1.0));
  double releases = 0;
  for (const Deaths& at : history.deaths) releases += 2 * at.longest >= evidence.longest + 1;
  evidence.releases = std::min(std::max(1.0, releases), lives);
  // If only a part of most steps' objects is left, objects are released one by one.
  int64_t partial = 0;
  for (const Cohort& cohort : history.cohorts) {
    if (cohort.step < evidence.end && cohort.live_objects > 0)
      partial += cohort.born_objects > cohort.live_objects ? 1 : -1;
  }
  if (partial > 0) evidence.releases = std::max(evidence.releases, std::max(1.0, releases));
  return evidence;
}

Evidence OncePerStep(Evidence evidence) {
  for (Survivors& at : evidence.left) at.objects = 1;
  return evidence;
}

Evidence InEqualObjects(Evidence evidence) {
  constexpr double kObjectsAStep = 8;  // resolution
  const SurvivorTotal all = TotalOf(evidence.left);
  if (all.bytes == 0) return evidence;
  const double size = static_cast<double>(all.bytes) / static_cast<double>(all.steps) / kObjectsAStep;
  for (Survivors& at : evidence.left) {
    at.objects = std::max<uint32_t>(1, static_cast<uint32_t>(std::lround(static_cast<double>(at.bytes) / size)));
  }
  return evidence;
}

Evidence EvidenceOfGrowth(const std::vector<uint64_t>& levels, Step bin_steps) {
  Evidence evidence;
  evidence.width = bin_steps;
  evidence.steps = static_cast<Step>(levels.size());
  SurvivorSeries rises;
  uint64_t floor = levels.empty() ? 0 : levels.back();
  for (size_t i = levels.size(); i-- > 1;) {
    const uint64_t before = std::min(floor, levels[i - 1]);
    if (before < floor) rises.push_back({static_cast<Step>(i), 1, floor - before});
    floor = before;
  }
  std::reverse(rises.begin(), rises.end());
  // Falls: steps with higher levels since the level was last as low, on a stack of rising levels. A fall releases what
  // was added since then if it undoes at least half of it.
  struct Lower {
    size_t step;
    uint64_t highest;  // level since then
  };
  std::vector<Lower> lower;
  size_t falls = 0, last = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    const bool falls_here = i > 0 && levels[i] < levels[i - 1];
    uint64_t highest = levels[i];
    while (!lower.empty() && levels[lower.back().step] > levels[i]) {
      highest = std::max(highest, lower.back().highest);
      lower.pop_back();
    }
    if (!lower.empty()) {
      Lower& since = lower.back();
      since.highest = std::max(since.highest, highest);
      if (falls_here && 2 * (since.highest - levels[i]) >= since.highest - levels[since.step]) {
        evidence.longest = std::max(evidence.longest, static_cast<Step>(i - 1 - since.step));
        ++falls;
        last = i;
      }
    }
    lower.push_back({i, levels[i]});
  }
  evidence.drops = falls >= rises.size();
  evidence.releases = static_cast<double>(falls);
  if (falls > 0 && evidence.longest > 0) {
    evidence.releases = std::min(evidence.releases, std::max(1.0, (last + 1.0) / (evidence.longest + 1.0)));
  }
  Split(rises, &evidence);
  return evidence;
}

}  // namespace vramtrack
