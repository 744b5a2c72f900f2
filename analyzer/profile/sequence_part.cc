// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/sequence_part.h"

namespace vramtrack {

void SequencePart::Add(const ReplayAllocation& event, bool born) {
  const LiveAllocation& allocation = event.allocation;
  if (at_ >= begin_ && at_ < end_) {
    events_.push_back({WordOf(match_of_site_[allocation.site], allocation.bytes, born), allocation.site});
  }
  ++at_;
}

}  // namespace vramtrack
