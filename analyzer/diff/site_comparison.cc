// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/site_comparison.h"

#include <algorithm>
#include <cmath>

#include "analyzer/leaks/multiple_testing.h"

namespace vramtrack {
namespace {

constexpr double kSameObjects = 0.05;

// What each site is tested for, in the order in which a change is told.
struct Sample {
  const char* unit;
  std::vector<double> SiteSeries::*values;
};
constexpr Sample kSamples[] = {{"bytes_at_peak", &SiteSeries::at_peak}, {"bytes_per_step", &SiteSeries::bytes}};

struct Test {
  size_t pair;
  const Sample* sample;
  RankTest result;
};

// A leak is judged by its run alone; that of a longer run may only have needed the steps to show. What both runs did in
// the same steps tells.
bool GrowsApart(const SitePair& pair) {
  const size_t blocks = pair.next.series.live.size();
  if (blocks < kMinSample) return true;
  const double apart = TheilSenSlope(pair.next.series.live) - TheilSenSlope(pair.base.series.live);
  return (apart > 0) == (pair.next.rate.rate > pair.base.rate.rate) && apart != 0;
}

bool RateChanged(const SitePair& pair, bool whole_runs, SiteChange* change) {
  if (!pair.base.leak && !pair.next.leak) return false;
  if (pair.handle) {
    const double old = pair.base.objects_per_step, now = pair.next.objects_per_step;
    if (std::fabs(now - old) <= kSameObjects * std::max(old, now)) return false;
    if (!pair.base.judged || !pair.next.judged) return false;
    change->unit = "objects_per_step";
    change->base = old;
    change->next = now;
    return true;
  }
  if (!RatesDiffer(pair.base.rate, pair.next.rate)) return false;
  const bool sure = whole_runs && pair.base.judged && pair.next.judged;
  if (!sure && !GrowsApart(pair)) return false;
  change->unit = "bytes_live_per_step";
  change->base = pair.base.rate.rate;
  change->next = pair.next.rate.rate;
  return true;
}

bool PeakChanged(const SitePair& pair) {
  return IsMaterial(static_cast<double>(pair.base.totals.bytes_at_peak),
                    static_cast<double>(pair.next.totals.bytes_at_peak));
}

void TakePeak(const SitePair& pair, SiteChange* change) {
  change->unit = "bytes_at_peak";
  change->base = static_cast<double>(pair.base.totals.bytes_at_peak);
  change->next = static_cast<double>(pair.next.totals.bytes_at_peak);
}

void Take(const SitePair& pair, const Test& test, SiteChange* change) {
  change->unit = test.sample->unit;
  change->base = Mean(pair.base.series.*test.sample->values);
  change->next = Mean(pair.next.series.*test.sample->values);
  // The run's peak is what the reader sees elsewhere, if it tells the same.
  const bool at_peak = test.sample == &kSamples[0];
  if (at_peak && PeakChanged(pair) &&
      (pair.next.totals.bytes_at_peak > pair.base.totals.bytes_at_peak) == (change->next > change->base)) {
    TakePeak(pair, change);
  }
  change->p_value = test.result.p_value;
  change->effect_size = test.result.cliffs_delta;
}

bool Differs(const SitePair& pair) {
  return pair.base.series.at_peak != pair.next.series.at_peak || pair.base.series.bytes != pair.next.series.bytes ||
         pair.base.totals.bytes_at_peak != pair.next.totals.bytes_at_peak || pair.base.present != pair.next.present;
}

}  // namespace

std::vector<SiteChange> CompareSites(const std::vector<SitePair>& pairs, bool tested, bool whole_runs) {
  std::vector<SiteChange> changes(pairs.size());
  std::vector<Test> tests;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const SitePair& pair = pairs[i];
    changes[i].found = RateChanged(pair, whole_runs, &changes[i]);
    if (changes[i].found || !tested) continue;
    for (const Sample& sample : kSamples) {
      const std::vector<double>&base = pair.base.series.*sample.values, &next = pair.next.series.*sample.values;
      // The same to the byte needs no test.
      if (base == next) continue;
      tests.push_back({i, &sample, MannWhitney(base, next)});
    }
  }
  std::vector<double> p_values;
  for (const Test& test : tests) p_values.push_back(test.result.p_value);
  const std::vector<bool> rejected = BenjaminiHochberg(p_values, kAlpha);
  for (size_t i = 0; i < tests.size(); ++i) {
    SiteChange& change = changes[tests[i].pair];
    if (!rejected[i] || change.found || std::fabs(tests[i].result.cliffs_delta) < kLeastEffect) continue;
    const SitePair& pair = pairs[tests[i].pair];
    const std::vector<double> SiteSeries::*values = tests[i].sample->values;
    if (!IsMaterial(Mean(pair.base.series.*values), Mean(pair.next.series.*values))) continue;
    change.found = true;
    Take(pair, tests[i], &change);
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    SiteChange& change = changes[i];
    if (!change.found && PeakChanged(pairs[i]) && (!tested || pairs[i].in_step)) {
      change.found = true;
      TakePeak(pairs[i], &change);
    }
    change.small = !change.found && Differs(pairs[i]);
  }
  return changes;
}

}  // namespace vramtrack
