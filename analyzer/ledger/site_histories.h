// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_SITE_HISTORIES_H_
#define ANALYZER_LEDGER_SITE_HISTORIES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/leaks/births.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {

// Records what each site did in each step, for its verdict, and how similar the steps are. Memory is bounded by sites
// and steps. Site indices are those of the ledger. Ask after the replay. Thread-compatible.
class SiteHistories final : public ReplayObserver {
 public:
  // Returns the history of the site over the complete steps.
  SiteHistory history(SiteIndex site) const { return histories_[site].Finish(ledger_->steps().step()); }
  // Returns the total that the site had allocated by step 8, 16, 32, ... and by the end of the run.
  BirthTotals births(SiteIndex site) const;
  // Returns the similarity of each complete step with the steps before it, see step_similarity.h.
  const std::vector<float>& step_similarities() const { return similarity_.similarities(); }

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnBrief(const ReplayAllocation& sum, uint32_t lifetime_steps) override;
  void OnStepEnd(uint32_t step) override;
  void OnEnd() override;

 private:
  // Counts the objects that a site allocated in its latest step, and those of them that were freed in it. Most objects
  // live shortly; collecting them here means that the site's history is updated only once a step.
  struct Activity {
    uint32_t step = 0;
    uint32_t born_objects = 0, died_objects = 0;
    bool in_turn = false;  // some were freed before others were allocated
    uint64_t born_bytes = 0, died_bytes = 0;
  };
  Activity* ActivityOf(SiteIndex site);
  void NoteBirth(SiteIndex index, const Site& site, uint32_t objects, uint64_t bytes);
  void NoteDeath(SiteIndex index, uint32_t birth_step, uint32_t objects, uint64_t bytes);
  void SettleActivity(SiteIndex index, Activity* activity);

  const Ledger* ledger_ = nullptr;
  StepSimilarity similarity_;
  IndexedVector<SiteIndex, Activity> activities_;
  IndexedDeque<SiteIndex, SiteHistoryBuilder> histories_;
  IndexedDeque<SiteIndex, BirthTotals> births_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SITE_HISTORIES_H_
