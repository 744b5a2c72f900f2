// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/site_histories.h"

namespace vramtrack {

SiteHistories::Present* SiteHistories::PresentOf(SiteIndex site) {
  if (__builtin_expect(!present_.Has(site), 0)) {
    present_.resize(site.value() + size_t{1});
    histories_.resize(present_.size());
    levels_.resize(present_.size());
  }
  return &present_[site];
}

void SiteHistories::SettleActivity(SiteIndex index, Activity* activity) {
  SiteHistoryBuilder& history = histories_[index];
  if (activity->born_objects == activity->died_objects) {
    if (activity->born_objects > 0) {
      history.OnShortLived(activity->step, activity->born_objects, activity->born_bytes);
    }
  } else {
    history.OnBirth(activity->step, activity->born_bytes, activity->born_objects);
    if (activity->died_objects > 0) {
      history.OnDeath(activity->step, activity->step, activity->died_bytes, activity->died_objects);
    }
  }
  *activity = {};
}

// Before the first change of what the site holds in a step: that is what it held at the ends of the steps before.
void SiteHistories::SettleLevel(SiteIndex index, const Site& site, SiteLevel before, Present* present) {
  const uint32_t step = ledger_->steps().step();
  levels_[index].OnLevel(step, before, {site.bytes_allocated, site.allocations}, present->least);
  present->level_step = step;
  present->least = before;
}

void SiteHistories::NoteBirth(SiteIndex index, const Site& site, SiteLevel before, uint32_t objects, uint64_t bytes) {
  Present* present = PresentOf(index);
  const uint32_t step = ledger_->steps().step();
  if (present->level_step != step) SettleLevel(index, site, before, present);
  Activity& activity = present->activity;
  if (activity.step != step) {
    SettleActivity(index, &activity);
    activity.step = step;
  }
  activity.in_turn |= activity.died_objects > 0;
  activity.born_objects += objects;
  activity.born_bytes += bytes;
}

void SiteHistories::NoteDeath(SiteIndex index, const Site& site, uint32_t birth_step, uint32_t objects,
                              uint64_t bytes) {
  Present* present = PresentOf(index);
  const uint32_t step = ledger_->steps().step();
  if (present->level_step != step) {
    SettleLevel(index, site, {site.live_bytes + bytes, site.live_objects + objects}, present);
  }
  if (site.live_bytes < present->least.bytes) present->least = {site.live_bytes, site.live_objects};
  Activity& activity = present->activity;
  if (birth_step == step) {
    // Its birth has brought the activity to this step.
    activity.died_objects += objects;
    activity.died_bytes += bytes;
    return;
  }
  if (activity.step != step) SettleActivity(index, &activity);
  histories_[index].OnDeath(birth_step, step, bytes, objects);
}

void SiteHistories::OnAllocate(const ReplayAllocation& allocated) {
  const SiteIndex index = allocated.allocation.site;
  const Site& site = allocated.site;
  const uint64_t bytes = allocated.allocation.bytes;
  // What only CUPTI saw is no part of a step's own rhythm, and what the past did is not known one by one.
  const StreamEvent* event = ledger_->present_event();
  if (event != nullptr && !event->past) similarity_.OnEvent(index.value());
  NoteBirth(index, site, {site.live_bytes - bytes, site.live_objects - 1}, 1, bytes);
}

void SiteHistories::OnFree(const ReplayAllocation& freed) {
  NoteDeath(freed.allocation.site, freed.site, freed.allocation.birth_step, 1, freed.allocation.bytes);
}

void SiteHistories::OnPastBirth(const ReplayFold& fold) {
  const Site& site = ledger_->sites()[fold.site];
  NoteBirth(fold.site, site, {site.live_bytes - fold.bytes, site.live_objects - fold.objects},
            static_cast<uint32_t>(fold.objects), fold.bytes);
}

void SiteHistories::OnPastDeath(const ReplayFold& fold) {
  NoteDeath(fold.site, ledger_->sites()[fold.site], fold.birth_step, static_cast<uint32_t>(fold.objects), fold.bytes);
}

void SiteHistories::OnPastBrief(const ReplayFold& fold, uint32_t lifetime_steps) {
  const Site& site = ledger_->sites()[fold.site];
  const auto objects = static_cast<uint32_t>(fold.objects);
  NoteBirth(fold.site, site, {site.live_bytes, site.live_objects}, objects, fold.bytes);
  Activity& activity = present_[fold.site].activity;
  activity.died_objects += objects;
  activity.died_bytes += fold.bytes;
  histories_[fold.site].OnFoldedLifetime(lifetime_steps);
}

void SiteHistories::OnStepEnd(uint32_t /*step*/) {
  const StreamEvent* event = ledger_->present_event();
  if (event != nullptr && event->past) {
    similarity_.OnUnknownStepEnd();
  } else {
    similarity_.OnStepEnd();
  }
}

void SiteHistories::OnEnd() {
  if (!ledger_->sites().empty()) PresentOf(ledger_->sites().last_index());
  for (const SiteIndex site : present_.indices()) {
    Activity& activity = present_[site].activity;
    if (activity.step < ledger_->steps().step()) {
      SettleActivity(site, &activity);
    } else if (!activity.in_turn) {
      // Of the last step, which is not complete, nothing else is history: a job frees everything when it ends.
      histories_[site].OnTail(activity.born_objects, activity.born_bytes);
    }
  }
}

StepLevels SiteHistories::levels(SiteIndex site) const {
  const uint32_t step = ledger_->steps().step();
  const Site& of = ledger_->sites()[site];
  StepLevelsBuilder whole = levels_[site];
  if (present_[site].level_step < step) {
    whole.OnLevel(step, {of.live_bytes, of.live_objects}, {of.bytes_allocated, of.allocations}, present_[site].least);
  }
  return whole.Finish(step);
}

std::vector<SiteBirths> SiteHistories::births(SiteIndex site) const {
  const Site& of = ledger_->sites()[site];
  std::vector<SiteBirths> births = levels_[site].births();
  births.push_back({ledger_->steps().step(), of.allocations, of.bytes_allocated});
  return births;
}

}  // namespace vramtrack
