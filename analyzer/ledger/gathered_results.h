// SPDX-License-Identifier: Apache-2.0
//
// Finds loops whose results are put together when they have ended, as torch.cat() does: a block is allocated that is as
// large as all that a site holds. The job needed what the loop kept.
#ifndef ANALYZER_LEDGER_GATHERED_RESULTS_H_
#define ANALYZER_LEDGER_GATHERED_RESULTS_H_

#include <cstdint>
#include <map>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Memory is bounded by the sites. Thread-compatible.
class GatheredResults final : public ReplayObserver {
 public:
  // Returns whether all objects that the site held were put together once, and it allocated nothing afterwards. What is
  // put together at the end of each epoch and grows nevertheless leaks.
  bool Has(SiteIndex site) const;

  unsigned frequent_calls() const override { return kAllocations; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    // What is put together once, or a few times, is not what a step does.
    if (__builtin_expect(allocated.site.allocations > kMostTimes, 1)) return;
    if (allocated.scope != nullptr && allocated.allocation.bytes >= kLeastBytes) Look(allocated);
  }

 private:
  static constexpr uint64_t kMostTimes = 8, kLeastBytes = 4096;
  // Fewer objects may have the bytes of a block by chance.
  static constexpr uint64_t kFewestObjects = 8;
  // Sites that are looked at in all: a job with more has no time for this.
  static constexpr uint64_t kMostLooks = 100'000'000;

  void Look(const ReplayAllocation& allocated);

  struct Gathering {
    uint64_t allocations = 0;  // of the site, until then
    bool again = false;        // it was not the first one
  };

  const Ledger* ledger_ = nullptr;
  std::map<SiteIndex, Gathering> gathered_;  // the last one of each site
  uint64_t looks_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_GATHERED_RESULTS_H_
