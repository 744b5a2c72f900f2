// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_SITE_HISTORIES_H_
#define ANALYZER_LEDGER_SITE_HISTORIES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/steps/step_similarity.h"

namespace vramtrack {

// Records what each site did in each step, for its verdict, and how similar the steps are. Memory is bounded by sites
// and steps. Site indices are those of the ledger. Ask after the replay. Thread-compatible.
class SiteHistories final : public ReplayObserver {
 public:
  // See SiteHistoryBuilder.
  SiteHistory history(SiteIndex site) const { return sites_[site].Finish(step()); }
  BirthTotals births(SiteIndex site) const { return sites_[site].births(step()); }
  // Returns the similarity of each complete step with the steps before it, see step_similarity.h.
  const std::vector<float>& step_similarities() const { return similarity_.similarities(); }

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    const SiteIndex site = allocated.allocation.site;
    // What only CUPTI saw is not part of a step's own rhythm, and what the past did is not known one by one.
    const StreamEvent* event = ledger_->present_event();
    if (event != nullptr && !event->past) similarity_.OnEvent(site.value());
    At(site).OnBirth(step(), allocated.allocation.bytes, static_cast<uint32_t>(allocated.objects));
  }
  void OnFree(const ReplayAllocation& freed) override {
    At(freed.allocation.site)
        .OnDeath(freed.allocation.birth_step, step(), freed.allocation.bytes, static_cast<uint32_t>(freed.objects));
  }
  void OnBrief(const ReplayAllocation& sum, uint32_t lifetime_steps) override {
    OnAllocate(sum);
    OnFree(sum);
    At(sum.allocation.site).OnFoldedLifetime(lifetime_steps);
  }
  void OnStepEnd(uint32_t /*step*/) override {
    const StreamEvent* event = ledger_->present_event();
    if (event != nullptr && event->past) {
      similarity_.OnUnknownStepEnd();
    } else {
      similarity_.OnStepEnd();
    }
  }
  void OnEnd() override { sites_.resize(ledger_->sites().size()); }

 private:
  uint32_t step() const { return ledger_->steps().step(); }
  SiteHistoryBuilder& At(SiteIndex site) {
    sites_.GrowTo(site);
    return sites_[site];
  }

  const Ledger* ledger_ = nullptr;
  StepSimilarity similarity_;
  IndexedDeque<SiteIndex, SiteHistoryBuilder> sites_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SITE_HISTORIES_H_
