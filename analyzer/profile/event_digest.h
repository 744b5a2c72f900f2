// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PROFILE_EVENT_DIGEST_H_
#define ANALYZER_PROFILE_EVENT_DIGEST_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/ledger/replay_observer.h"
#include "analyzer/profile/event_sequence.h"
#include "analyzer/profile/sequence_part.h"

namespace vramtrack {

// What a run's allocations and frees mix to: in their order with sites numbered as they first allocate, which another
// run need not know to number its own alike, and in whatever order for each site. Thread-compatible.
class EventDigest : public ReplayObserver {
 public:
  struct SiteEvents {
    uint64_t count = 0, sum = 0;
  };

  // `number_of_site`: of each site of the ledger; `numbers`: how many there are.
  EventDigest(std::vector<uint32_t> number_of_site, size_t numbers)
      : number_of_site_(std::move(number_of_site)), sites_(numbers) {}

  void OnAllocate(const ReplayAllocation& allocated) override { Add(allocated, true); }
  void OnFree(const ReplayAllocation& freed) override { Add(freed, false); }

  const EventSequence& sequence() const { return sequence_; }
  const SiteEvents& site(uint32_t number) const { return sites_[number]; }

 private:
  void Add(const ReplayAllocation& event, bool born) {
    const LiveAllocation& allocation = event.allocation;
    const uint32_t number = number_of_site_[allocation.site];
    sequence_.Add(WordOf(number, allocation.bytes, born));
    SiteEvents& site = sites_[number];
    ++site.count;
    site.sum += WordOf(0, allocation.bytes, born) * 0xbf58476d1ce4e5b9;
  }

  const std::vector<uint32_t> number_of_site_;
  EventSequence sequence_;
  std::vector<SiteEvents> sites_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_EVENT_DIGEST_H_
