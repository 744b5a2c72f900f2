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

}  // namespace

void SiteHistoryBuilder::BeginStep(Step step) {
  if (step <= latest_step_) return;
  SettleDeaths();
  latest_step_ = step;
}

SiteHistoryBuilder::OpenCohort* SiteHistoryBuilder::Find(Step birth_step) {
  // Most objects die young: look at the last few before searching.
  size_t end = cohorts_.size();
  for (size_t i = 0; i < 4 && end > 0; ++i, --end) {
    const Step step = cohorts_[end - 1].cohort.step;
    if (step == birth_step) return &cohorts_[end - 1];
    if (step < birth_step) return nullptr;
  }
  auto found = std::lower_bound(cohorts_.begin(), cohorts_.begin() + static_cast<std::ptrdiff_t>(end), birth_step,
                                [](const OpenCohort& open, Step step) { return open.cohort.step < step; });
  if (found == cohorts_.begin() + static_cast<std::ptrdiff_t>(end) || found->cohort.step != birth_step) return nullptr;
  return &*found;
}

SiteHistoryBuilder::OpenCohort& SiteHistoryBuilder::BornIn(Step step) {
  if (!cohorts_.empty() && cohorts_.back().cohort.step >= step) {
    // Out of order: counted to the latest step, as its true step has been settled.
    return cohorts_.back();
  }
  if (cohorts_.size() >= compact_at_) DropEmptyCohorts();
  cohorts_.emplace_back();
  cohorts_.back().cohort.step = step;
  CountBirthStep(step);
  return cohorts_.back();
}

void SiteHistoryBuilder::CountBirthStep(Step step) {
  if (settled_.birth_steps > 0 && step <= settled_.last_birth) return;
  if (settled_.birth_steps == 0) {
    settled_.first_birth = step;
    previous_birth_ = step;
  } else {
    previous_birth_ = settled_.last_birth;
  }
  settled_.last_birth = step;
  ++settled_.birth_steps;
}

void SiteHistoryBuilder::CountLifetime(uint32_t lifetime_steps, uint64_t objects) {
  const size_t bin = LifetimeBin(lifetime_steps);
  if (__builtin_expect(bin >= lifetimes_.size(), 0)) {
    lifetimes_.reserve(bin + 1);
    lifetimes_.resize(bin + 1);
  }
  lifetimes_[bin] += objects;
}

void SiteHistoryBuilder::OnBirth(Step step, uint64_t bytes, uint32_t objects) {
  BeginStep(step);
  Cohort& cohort = BornIn(step).cohort;
  cohort.born_objects += objects;
  cohort.live_objects += objects;
  cohort.born_bytes += bytes;
  cohort.live_bytes += bytes;
  settled_.born_objects += objects;
  settled_.born_bytes += bytes;
}

void SiteHistoryBuilder::OnShortLived(Step step, uint32_t objects, uint64_t bytes) {
  BeginStep(step);
  CountBirthStep(step);
  settled_.born_objects += objects;
  settled_.born_bytes += bytes;
  settled_.died_objects += objects;
  settled_.died_bytes += bytes;
  CountLifetime(0, objects);
}

void SiteHistoryBuilder::OnDeath(Step birth_step, Step step, uint64_t bytes, uint32_t objects) {
  BeginStep(step);
  OpenCohort* open = Find(birth_step);
  if (open == nullptr || open->dying_objects + objects > open->cohort.live_objects) {
    settled_.unmatched_deaths += objects;
    return;
  }
  if (open->dying_objects == 0) dying_cohorts_.push_back(birth_step);
  open->dying_objects += objects;
  open->dying_bytes += bytes;
}

void SiteHistoryBuilder::OnFoldedLifetime(uint32_t lifetime_steps) {
  settled_.max_completed_lifetime_steps = std::max(settled_.max_completed_lifetime_steps, lifetime_steps);
}

void SiteHistoryBuilder::OnTail(uint32_t objects, uint64_t bytes) {
  tail_objects_ = objects;
  tail_bytes_ = bytes;
}

void SiteHistoryBuilder::SettleDeaths() {
  Deaths outlived{latest_step_};
  for (const Step birth_step : dying_cohorts_) {
    OpenCohort& open = *Find(birth_step);
    Cohort& cohort = open.cohort;
    const uint64_t bytes = std::min(open.dying_bytes, cohort.live_bytes);
    cohort.live_objects -= open.dying_objects;
    cohort.live_bytes -= bytes;

    const uint32_t lifetime_steps = latest_step_ - birth_step;
    CountLifetime(lifetime_steps, open.dying_objects);
    uint32_t& longest = birth_step == 0 ? settled_.max_setup_lifetime_steps : settled_.max_completed_lifetime_steps;
    longest = std::max(longest, lifetime_steps);
    settled_.died_objects += open.dying_objects;
    settled_.died_bytes += bytes;
    if (lifetime_steps > 0) {
      outlived.objects += open.dying_objects;
      outlived.bytes += bytes;
      if (birth_step > 0) outlived.longest = std::max(outlived.longest, lifetime_steps);
    }
    open.dying_objects = 0;
    open.dying_bytes = 0;
  }
  dying_cohorts_.clear();
  if (outlived.objects > 0) RecordDeaths(outlived);
}

void SiteHistoryBuilder::RecordDeaths(Deaths outlived) {
  std::vector<Deaths>& deaths = settled_.deaths;
  AddDeaths(outlived, settled_.death_bin_steps, &deaths);
  if (deaths.size() <= kMaxDeathBins) return;
  settled_.death_bin_steps *= 2;
  JoinBins(settled_.death_bin_steps, &deaths);
}

void SiteHistoryBuilder::DropEmptyCohorts() {
  cohorts_.erase(std::remove_if(cohorts_.begin(), cohorts_.end(),
                                [](const OpenCohort& open) { return open.cohort.live_objects == 0; }),
                 cohorts_.end());
  // What is left is alive: memory follows the live set, and the next pass is as far away as this one was long.
  compact_at_ = std::max(kFewCohorts, 2 * cohorts_.size());
}

SiteHistory SiteHistoryBuilder::Finish(Step complete_steps) const {
  SiteHistoryBuilder settled = *this;
  if (latest_step_ < complete_steps) settled.SettleDeaths();
  SiteHistory history;
  static_cast<HistoryTotals&>(history) = std::move(settled.settled_);
  history.tail_objects = tail_objects_;
  history.tail_bytes = tail_bytes_;
  std::copy(settled.lifetimes_.begin(), settled.lifetimes_.end(), history.completed_lifetimes.begin());
  for (const OpenCohort& open : settled.cohorts_) {
    if (open.cohort.step < complete_steps) {
      history.cohorts.push_back(open.cohort);
      continue;
    }
    history.born_objects -= open.cohort.born_objects;
    history.born_bytes -= open.cohort.born_bytes;
    --history.birth_steps;
    history.last_birth = settled.previous_birth_;
  }
  return history;
}

SiteHistory WithoutBytes(SiteHistory history) {
  for (Cohort& cohort : history.cohorts) cohort.born_bytes = cohort.live_bytes = 0;
  for (Deaths& deaths : history.deaths) deaths.bytes = 0;
  history.born_bytes = history.died_bytes = history.tail_bytes = 0;
  return history;
}

SiteHistory Merged(std::vector<SiteHistory> all) {
  SiteHistory sum;
  bool any = false;
  for (const SiteHistory& one : all) {
    if (one.born_objects == 0) continue;
    sum.cohorts.insert(sum.cohorts.end(), one.cohorts.begin(), one.cohorts.end());
    sum.deaths.insert(sum.deaths.end(), one.deaths.begin(), one.deaths.end());
    sum.death_bin_steps = std::max(sum.death_bin_steps, one.death_bin_steps);
    for (size_t bin = 0; bin < sum.completed_lifetimes.size(); ++bin) {
      sum.completed_lifetimes[bin] += one.completed_lifetimes[bin];
    }
    sum.max_completed_lifetime_steps = std::max(sum.max_completed_lifetime_steps, one.max_completed_lifetime_steps);
    sum.max_setup_lifetime_steps = std::max(sum.max_setup_lifetime_steps, one.max_setup_lifetime_steps);
    sum.born_objects += one.born_objects;
    sum.born_bytes += one.born_bytes;
    sum.died_objects += one.died_objects;
    sum.died_bytes += one.died_bytes;
    sum.first_birth = any ? std::min(sum.first_birth, one.first_birth) : one.first_birth;
    sum.last_birth = std::max(sum.last_birth, one.last_birth);
    sum.birth_steps += one.birth_steps;
    sum.unmatched_deaths += one.unmatched_deaths;
    sum.tail_objects += one.tail_objects;
    sum.tail_bytes += one.tail_bytes;
    any = true;
  }
  sum.birth_steps = std::min(sum.birth_steps, any ? sum.last_birth - sum.first_birth + 1 : 0);
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
