// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_SITE_HISTORIES_H_
#define ANALYZER_LEDGER_SITE_HISTORIES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/step_levels.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {

// What each site did step by step, for its verdict, and how alike the steps are. Memory is bounded by sites and steps.
// After the replay sites are numbered as the ledger's. Thread-compatible.
class SiteHistories final : public ReplayObserver {
 public:
  // Of the complete steps.
  SiteHistory history(SiteIndex site) const { return histories_[site].Finish(ledger_->steps().step()); }
  // What it held at the ends of complete steps.
  StepLevels levels(SiteIndex site) const;
  size_t level_changes(SiteIndex site) const { return levels_[site].changes(); }
  // What it had allocated in all at steps of about 8, 16, 32, ... and at the end.
  std::vector<SiteBirths> births(SiteIndex site) const;
  // Of each complete step with those before it, see step_similarity.h.
  const std::vector<float>& step_similarities() const { return similarity_.similarities(); }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnPastBirth(const ReplayFold& fold) override;
  void OnPastDeath(const ReplayFold& fold) override;
  void OnPastBrief(const ReplayFold& fold, uint32_t lifetime_steps) override;
  void OnStepEnd(uint32_t step) override;
  void OnEnd() override;

 private:
  // What a site did in its latest step with objects that were born in that step: most objects die young, and their
  // site's history hears of them once a step.
  struct Activity {
    uint32_t step = 0;
    uint32_t born_objects = 0, died_objects = 0;
    uint64_t born_bytes = 0, died_bytes = 0;
  };
  struct Present {
    Activity activity;
    // Up to this step the levels of the ends of steps are known to its StepLevelsBuilder; its bytes have not changed
    // since.
    uint32_t level_step = 0;
    SiteLevel least;  // the least of what it held since then
  };

  Present* PresentOf(SiteIndex site);
  // `before`: what it held before the event.
  void NoteBirth(SiteIndex index, const Site& site, SiteLevel before, uint32_t objects, uint64_t bytes);
  void NoteDeath(SiteIndex index, const Site& site, uint32_t birth_step, uint32_t objects, uint64_t bytes);
  void SettleLevel(SiteIndex index, const Site& site, SiteLevel before, Present* present);
  void SettleActivity(SiteIndex index, Activity* activity);

  const Ledger* ledger_ = nullptr;
  StepSimilarity similarity_;
  IndexedVector<SiteIndex, Present> present_;  // by site
  IndexedDeque<SiteIndex, SiteHistoryBuilder> histories_;
  IndexedDeque<SiteIndex, StepLevelsBuilder> levels_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SITE_HISTORIES_H_
