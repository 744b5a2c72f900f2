// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/site_comparison.h"

#include <algorithm>
#include <cmath>

#include "analyzer/leaks/statistics.h"

namespace vramtrack {
namespace {

constexpr double kSameObjects = 0.05;

// What each site is tested for.
constexpr std::vector<double> SiteSeries::*kAtPeak = &SiteSeries::at_peak;
constexpr std::vector<double> SiteSeries::*kOwn = &SiteSeries::own;
constexpr std::vector<double> SiteSeries::*kBytes = &SiteSeries::bytes;
constexpr std::vector<double> SiteSeries::*kSamples[] = {kAtPeak, kOwn, kBytes};

struct Test {
  size_t pair;
  std::vector<double> SiteSeries::*values;
  RankTest result;
};

// The tests of one site that say that it changed.
struct Changed {
  const Test *at_peak = nullptr, *own = nullptr, *bytes = nullptr;
};

// A leak is judged by its run alone; that of a longer run may only have needed the steps to show. What both runs did in
// the same steps tells.
bool GrowsApart(const SitePair& pair) {
  const size_t blocks = pair.next.series.live.size();
  if (blocks < kMinSample) return true;
  const double apart = TheilSenSlope(pair.next.series.live) - TheilSenSlope(pair.base.series.live);
  return (apart > 0) == (pair.next.rate.bytes_per_step > pair.base.rate.bytes_per_step) && apart != 0;
}

bool RateChanged(const SitePair& pair, bool whole_runs, SiteChange* change) {
  if (!pair.base.leak && !pair.next.leak) return false;
  if (pair.handle) {
    const double old = pair.base.rate.objects_per_step, now = pair.next.rate.objects_per_step;
    if (std::fabs(now - old) <= kSameObjects * std::max(old, now)) return false;
    if (!pair.base.judged || !pair.next.judged) return false;
    change->unit = ChangeUnit::kObjectsPerStep;
    change->base = old;
    change->next = now;
    return true;
  }
  if (!RatesDiffer(pair.base.rate, pair.next.rate)) return false;
  const bool sure = whole_runs && pair.base.judged && pair.next.judged;
  if (!sure && !GrowsApart(pair)) return false;
  change->unit = ChangeUnit::kBytesLivePerStep;
  change->base = pair.base.rate.bytes_per_step;
  change->next = pair.next.rate.bytes_per_step;
  return true;
}

bool PeakChanged(const SitePair& pair) {
  return IsMaterial(static_cast<double>(pair.base.bytes_at_peak), static_cast<double>(pair.next.bytes_at_peak));
}

// Whether it is the site's own doing, and not that of what moved the peak.
bool HoldsMore(const SitePair& pair) {
  return pair.same_peak || IsMaterial(static_cast<double>(pair.base.own_peak), static_cast<double>(pair.next.own_peak));
}

void TakePeak(const SitePair& pair, SiteChange* change) {
  change->unit = ChangeUnit::kBytesAtPeak;
  change->base = static_cast<double>(pair.base.bytes_at_peak);
  change->next = static_cast<double>(pair.next.bytes_at_peak);
}

// Whether blocks that were handed out larger than they were asked for explain the difference.
bool IsLeftOver(const SitePair& pair, double base, double next) {
  const auto [old, now] = BlockSizes::AskedFor(pair.base.sizes, pair.next.sizes);
  return !IsMaterial(base * old, next * now);
}

void Take(const SitePair& pair, ChangeUnit unit, const Test& test, SiteChange* change) {
  change->unit = unit;
  change->base = Mean(pair.base.series.*test.values);
  change->next = Mean(pair.next.series.*test.values);
  // The run's peak is what the reader sees elsewhere, if it tells the same.
  const bool at_peak = test.values == kAtPeak;
  if (at_peak && PeakChanged(pair) &&
      (pair.next.bytes_at_peak > pair.base.bytes_at_peak) == (change->next > change->base)) {
    TakePeak(pair, change);
  }
  change->p_value = test.result.p_value;
  change->effect_size = test.result.cliffs_delta;
  change->found = !IsLeftOver(pair, change->base, change->next);
}

bool SameDirection(const Test& a, const Test& b) { return (a.result.cliffs_delta > 0) == (b.result.cliffs_delta > 0); }

// What a site holds at a device's peak also changes when something else moves the peak. It is the site's own change if
// it holds more or less whatever the moment, or if the peak is at the same place as before.
void Judge(const SitePair& pair, const Changed& changed, SiteChange* change) {
  const bool own =
      changed.own != nullptr && changed.at_peak != nullptr && SameDirection(*changed.own, *changed.at_peak);
  if (changed.at_peak != nullptr && (own || pair.same_peak)) {
    Take(pair, ChangeUnit::kBytesAtPeak, *changed.at_peak, change);
  } else if (changed.bytes != nullptr) {
    Take(pair, ChangeUnit::kBytesPerStep, *changed.bytes, change);
  }
}

bool Differs(const SitePair& pair) {
  return pair.base.series.at_peak != pair.next.series.at_peak || pair.base.series.bytes != pair.next.series.bytes ||
         pair.base.bytes_at_peak != pair.next.bytes_at_peak || pair.base.present != pair.next.present;
}

}  // namespace

std::vector<SiteChange> CompareSites(const std::vector<SitePair>& pairs, bool tested, bool whole_runs) {
  std::vector<SiteChange> changes(pairs.size());
  std::vector<Test> tests;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const SitePair& pair = pairs[i];
    changes[i].found = RateChanged(pair, whole_runs, &changes[i]);
    if (changes[i].found || !tested) continue;
    for (const auto values : kSamples) {
      const std::vector<double>&base = pair.base.series.*values, &next = pair.next.series.*values;
      // The same to the byte needs no test.
      if (base != next) tests.push_back({i, values, Compare(base, next)});
    }
  }
  std::vector<double> p_values;
  for (const Test& test : tests) p_values.push_back(test.result.p_value);
  const std::vector<bool> rejected = BenjaminiHochberg(p_values, kAlpha);
  std::vector<Changed> changed(pairs.size());
  for (size_t i = 0; i < tests.size(); ++i) {
    const Test& test = tests[i];
    const SitePair& pair = pairs[test.pair];
    if (!rejected[i] || std::fabs(test.result.cliffs_delta) < kLeastEffect) continue;
    if (!IsMaterial(Mean(pair.base.series.*test.values), Mean(pair.next.series.*test.values))) continue;
    Changed& site = changed[test.pair];
    (test.values == kAtPeak ? site.at_peak : test.values == kOwn ? site.own : site.bytes) = &test;
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!changes[i].found) Judge(pairs[i], changed[i], &changes[i]);
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    SiteChange& change = changes[i];
    if (!change.found && PeakChanged(pairs[i]) && (!tested || (pairs[i].in_step && HoldsMore(pairs[i])))) {
      TakePeak(pairs[i], &change);
      change.found = !IsLeftOver(pairs[i], change.base, change.next);
    }
    change.small = !change.found && Differs(pairs[i]);
  }
  return changes;
}

}  // namespace vramtrack
