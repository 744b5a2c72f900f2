// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/site_histories.h"

namespace vramtrack {

SiteHistories::Activity* SiteHistories::ActivityOf(SiteIndex site) {
  if (__builtin_expect(!activities_.Has(site), 0)) {
    activities_.resize(site.value() + size_t{1});
    histories_.resize(activities_.size());
    births_.resize(activities_.size());
  }
  return &activities_[site];
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

void SiteHistories::NoteBirth(SiteIndex index, const Site& site, uint32_t objects, uint64_t bytes) {
  Activity* activity = ActivityOf(index);
  const uint32_t step = ledger_->steps().step();
  if (activity->step != step) {
    SettleActivity(index, activity);
    activity->step = step;
    NoteBirths(step, {site.allocations - objects, site.bytes_allocated - bytes}, &births_[index]);
  }
  activity->in_turn |= activity->died_objects > 0;
  activity->born_objects += objects;
  activity->born_bytes += bytes;
}

void SiteHistories::NoteDeath(SiteIndex index, uint32_t birth_step, uint32_t objects, uint64_t bytes) {
  Activity* activity = ActivityOf(index);
  const uint32_t step = ledger_->steps().step();
  if (birth_step == step) {
    // Its birth has brought the activity to this step.
    activity->died_objects += objects;
    activity->died_bytes += bytes;
    return;
  }
  if (activity->step != step) SettleActivity(index, activity);
  histories_[index].OnDeath(birth_step, step, bytes, objects);
}

void SiteHistories::OnAllocate(const ReplayAllocation& allocated) {
  const SiteIndex index = allocated.allocation.site;
  // What only CUPTI saw is no part of a step's own rhythm, and what the past did is not known one by one.
  const StreamEvent* event = ledger_->present_event();
  if (event != nullptr && !event->past) similarity_.OnEvent(index.value());
  NoteBirth(index, allocated.site, static_cast<uint32_t>(allocated.objects), allocated.allocation.bytes);
}

void SiteHistories::OnFree(const ReplayAllocation& freed) {
  NoteDeath(freed.allocation.site, freed.allocation.birth_step, static_cast<uint32_t>(freed.objects),
            freed.allocation.bytes);
}

void SiteHistories::OnBrief(const ReplayAllocation& sum, uint32_t lifetime_steps) {
  const SiteIndex index = sum.allocation.site;
  const auto objects = static_cast<uint32_t>(sum.objects);
  NoteBirth(index, sum.site, objects, sum.allocation.bytes);
  activities_[index].died_objects += objects;
  activities_[index].died_bytes += sum.allocation.bytes;
  histories_[index].OnFoldedLifetime(lifetime_steps);
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
  if (!ledger_->sites().empty()) ActivityOf(ledger_->sites().last_index());
  for (const SiteIndex site : activities_.indices()) {
    Activity& activity = activities_[site];
    if (activity.step < ledger_->steps().step()) {
      SettleActivity(site, &activity);
    } else if (!activity.in_turn) {
      // Of the last step, which is not complete, nothing else is history: a job frees everything when it ends.
      histories_[site].OnTail(activity.born_objects, activity.born_bytes);
    }
  }
}

BirthTotals SiteHistories::births(SiteIndex site) const {
  const Site& of = ledger_->sites()[site];
  return CompleteBirths(births_[site], ledger_->steps().step(), {of.allocations, of.bytes_allocated});
}

}  // namespace vramtrack
