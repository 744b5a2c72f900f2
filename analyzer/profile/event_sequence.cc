// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/event_sequence.h"

#include <algorithm>

namespace vramtrack {

void EventSequence::Sample() {
  samples_.push_back(hash_);
  if (samples_.size() == kMaxSamples) {
    for (size_t i = 0; 2 * i + 1 < samples_.size(); ++i) samples_[i] = samples_[2 * i + 1];
    samples_.resize(samples_.size() / 2);
    stride_ *= 2;
  }
  next_ = (samples_.size() + 1) * stride_;
}

std::pair<uint64_t, uint64_t> EventSequence::PartsWithin(const EventSequence& a, const EventSequence& b) {
  const uint64_t stride = std::max(a.stride_, b.stride_);  // strides are powers of two, times 64
  uint64_t same = 0;
  for (uint64_t count = stride;; count += stride) {
    const size_t in_a = count / a.stride_ - 1, in_b = count / b.stride_ - 1;
    if (in_a >= a.samples_.size() || in_b >= b.samples_.size()) break;
    if (a.samples_[in_a] != b.samples_[in_b]) return {same, count};
    same = count;
  }
  return {same, std::min(a.count_, b.count_) + 1};
}

}  // namespace vramtrack
