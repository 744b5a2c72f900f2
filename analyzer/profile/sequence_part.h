// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PROFILE_SEQUENCE_PART_H_
#define ANALYZER_PROFILE_SEQUENCE_PART_H_

#include <cstdint>
#include <vector>

#include "analyzer/ledger/replay_observer.h"
#include "analyzer/profile/event_sequence.h"

namespace vramtrack {

// An allocation or free as a number: sites are told apart by `site`, whatever numbers them.
inline uint64_t WordOf(uint32_t site, uint64_t bytes, bool born) {
  return (uint64_t{site} << 1 | born) * 0xff51afd7ed558ccd ^ bytes * 0xc4ceb9fe1a85ec53;
}

// A replay that keeps events [begin, end) of the sequence.
class SequencePart : public ReplayObserver {
 public:
  SequencePart(const std::vector<uint32_t>& match_of_site, uint64_t begin, uint64_t end)
      : match_of_site_(match_of_site), begin_(begin), end_(end) {}

  void OnAllocate(const ReplayAllocation& allocated) override { Add(allocated, true); }
  void OnFree(const ReplayAllocation& freed) override { Add(freed, false); }

  const std::vector<SequenceEvent>& events() const { return events_; }

 private:
  void Add(const ReplayAllocation& event, bool born);

  const std::vector<uint32_t>& match_of_site_;
  const uint64_t begin_, end_;
  uint64_t at_ = 0;
  std::vector<SequenceEvent> events_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_SEQUENCE_PART_H_
