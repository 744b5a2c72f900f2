// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/site_history.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vramtrack {
namespace {

constexpr size_t kMaxDeathBins = 4096;

size_t LifetimeBin(uint32_t lifetime_steps) {
  return lifetime_steps == 0 ? 0 : static_cast<size_t>(32 - __builtin_clz(lifetime_steps));
}

// Adds the deaths of a step that is not before the last bin.
void AddDeaths(const Deaths& deaths, uint32_t bin_steps, std::vector<Deaths>* bins) {
  const Step begin = deaths.step - deaths.step % bin_steps;
  if (bins->empty() || bins->back().step != begin) {
    bins->push_back(deaths);
    bins->back().step = begin;
    return;
  }
  Deaths& bin = bins->back();
  bin.objects += deaths.objects;
  bin.bytes += deaths.bytes;
  bin.longest = std::max(bin.longest, deaths.longest);
}

// Sums up the entries of one bin; they are in order of their steps.
void JoinBins(uint32_t bin_steps, std::vector<Deaths>* deaths) {
  const std::vector<Deaths> fine = std::move(*deaths);
  deaths->clear();
  for (const Deaths& one : fine) AddDeaths(one, bin_steps, deaths);
}

void RecordDeaths(const Deaths& deaths, SiteHistory* history) {
  AddDeaths(deaths, history->death_bin_steps, &history->deaths);
  if (history->deaths.size() <= kMaxDeathBins) return;
  history->death_bin_steps *= 2;
  JoinBins(history->death_bin_steps, &history->deaths);
}

}  // namespace

Cohort* SiteHistoryBuilder::Find(Step birth_step) {
  std::vector<Cohort>& cohorts = history_.cohorts;
  // Most objects die young: look at the last few before searching.
  auto at = cohorts.end();
  for (int i = 0; i < 4 && at != cohorts.begin() && std::prev(at)->step >= birth_step; ++i) --at;
  if (at != cohorts.begin() && std::prev(at)->step >= birth_step) {
    at = std::lower_bound(cohorts.begin(), at, birth_step,
                          [](const Cohort& cohort, Step step) { return cohort.step < step; });
  }
  return at != cohorts.end() && at->step == birth_step ? &*at : nullptr;
}

void SiteHistoryBuilder::CountLifetime(uint32_t lifetime_steps, uint64_t objects) {
  std::vector<uint64_t>& lifetimes = history_.completed_lifetimes;
  const size_t bin = LifetimeBin(lifetime_steps);
  if (__builtin_expect(bin >= lifetimes.size(), 0)) {
    lifetimes.reserve(bin + 1);
    lifetimes.resize(bin + 1);
  }
  lifetimes[bin] += objects;
}

// The cohort has less at once. That is undone if the present step turns out to be the one that does not count.
void SiteHistoryBuilder::OnLateDeath(LateDeath death) {
  Cohort* cohort = Find(death.birth_step);
  if (cohort == nullptr || death.objects > cohort->live_objects) return;
  death.bytes = std::min(death.bytes, cohort->live_bytes);
  cohort->live_objects -= death.objects;
  cohort->live_bytes -= death.bytes;
  if (late_deaths_.empty() || late_deaths_.back().birth_step != death.birth_step) {
    late_deaths_.push_back(death);
    return;
  }
  late_deaths_.back().objects += death.objects;
  late_deaths_.back().bytes += death.bytes;
}

void SiteHistoryBuilder::EndStep() {
  Deaths late{step_};
  for (const LateDeath& death : late_deaths_) {
    const uint32_t lifetime = step_ - death.birth_step;
    CountLifetime(lifetime, death.objects);
    late.objects += death.objects;
    late.bytes += death.bytes;
    if (death.birth_step > 0) late.longest = std::max(late.longest, lifetime);
  }
  late_deaths_.clear();
  OnFoldedLifetime(late.longest);
  if (late.objects > 0) RecordDeaths(late, &history_);
  if (died_.objects > 0) CountLifetime(0, died_.objects);
  history_.died_objects += late.objects + died_.objects;
  history_.died_bytes += late.bytes + died_.bytes;
  if (born_.objects > 0) {
    if (history_.birth_steps++ == 0) history_.first_birth = step_;
    history_.last_birth = step_;
    history_.born_objects += born_.objects;
    history_.born_bytes += born_.bytes;
  }
  // Most sites free in a step what they allocate in it.
  if (died_.objects < born_.objects) {
    std::vector<Cohort>& cohorts = history_.cohorts;
    if (cohorts.size() >= compact_at_) {
      const auto is_empty = [](const Cohort& cohort) { return cohort.live_objects == 0; };
      cohorts.erase(std::remove_if(cohorts.begin(), cohorts.end(), is_empty), cohorts.end());
      // What is left is alive: memory follows the live set, and the next pass is as far away as this one was long.
      compact_at_ = std::max(kFewCohorts, 2 * cohorts.size());
    }
    cohorts.push_back({step_, static_cast<uint32_t>(born_.objects), born_.bytes,
                       born_.bytes - std::min(died_.bytes, born_.bytes),
                       static_cast<uint32_t>(born_.objects - died_.objects)});
  }
  born_ = died_ = {};
}

SiteHistory SiteHistoryBuilder::Finish(Step complete_steps) const {
  SiteHistoryBuilder finished = *this;
  if (step_ < complete_steps) {
    finished.EndStep();
  } else {
    for (const LateDeath& death : late_deaths_) {
      Cohort* cohort = finished.Find(death.birth_step);
      cohort->live_objects += death.objects;
      cohort->live_bytes += death.bytes;
    }
  }
  return std::move(finished.history_);
}

BirthTotals SiteHistoryBuilder::births(Step complete_steps) const {
  return CompleteBirths(births_, complete_steps,
                        {history_.born_objects + born_.objects, history_.born_bytes + born_.bytes});
}

SiteHistory WithoutBytes(SiteHistory history) {
  for (Cohort& cohort : history.cohorts) cohort.born_bytes = cohort.live_bytes = 0;
  for (Deaths& deaths : history.deaths) deaths.bytes = 0;
  history.born_bytes = history.died_bytes = 0;
  return history;
}

SiteHistory Merged(const std::vector<SiteHistory>& all) {
  SiteHistory sum;
  for (const SiteHistory& one : all) {
    if (one.born_objects == 0) continue;
    sum.cohorts.insert(sum.cohorts.end(), one.cohorts.begin(), one.cohorts.end());
    sum.deaths.insert(sum.deaths.end(), one.deaths.begin(), one.deaths.end());
    std::vector<uint64_t>& lifetimes = sum.completed_lifetimes;
    lifetimes.resize(std::max(lifetimes.size(), one.completed_lifetimes.size()));
    for (size_t bin = 0; bin < one.completed_lifetimes.size(); ++bin) lifetimes[bin] += one.completed_lifetimes[bin];
    sum.first_birth = sum.born_objects > 0 ? std::min(sum.first_birth, one.first_birth) : one.first_birth;
    for (const auto most :
         {&SiteHistory::death_bin_steps, &SiteHistory::max_completed_lifetime_steps, &SiteHistory::last_birth}) {
      sum.*most = std::max(sum.*most, one.*most);
    }
    for (const auto total :
         {&SiteHistory::born_objects, &SiteHistory::born_bytes, &SiteHistory::died_objects, &SiteHistory::died_bytes}) {
      sum.*total += one.*total;
    }
    sum.birth_steps += one.birth_steps;
  }
  sum.birth_steps = std::min(sum.birth_steps, sum.born_objects > 0 ? sum.last_birth - sum.first_birth + 1 : 0);
  const auto by_step = [](const auto& a, const auto& b) { return a.step < b.step; };
  std::stable_sort(sum.cohorts.begin(), sum.cohorts.end(), by_step);
  std::stable_sort(sum.deaths.begin(), sum.deaths.end(), by_step);
  JoinBins(sum.death_bin_steps, &sum.deaths);
  size_t kept = 0;
  for (const Cohort& cohort : sum.cohorts) {
    if (kept == 0 || sum.cohorts[kept - 1].step != cohort.step) {
      sum.cohorts[kept++] = cohort;
      continue;
    }
    Cohort& same = sum.cohorts[kept - 1];
    same.born_objects += cohort.born_objects;
    same.born_bytes += cohort.born_bytes;
    same.live_objects += cohort.live_objects;
    same.live_bytes += cohort.live_bytes;
  }
  sum.cohorts.resize(kept);
  return sum;
}

}  // namespace vramtrack
