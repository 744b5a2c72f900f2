// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/event_sequence.h"

#include <algorithm>

namespace vramtrack {
namespace {

// An allocation or free as a number: `row` distinguishes sites, whatever numbers them.
uint64_t WordOf(uint32_t row, uint64_t bytes, bool born) {
  return (uint64_t{row} << 1 | born) * 0xff51afd7ed558ccd ^ bytes * 0xc4ceb9fe1a85ec53;
}

}  // namespace

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

void EventDigest::Add(const ReplayAllocation& event, bool born) {
  const LiveAllocation& allocation = event.allocation;
  const uint32_t number = row_of_site_[allocation.site];
  const uint64_t word = WordOf(number, allocation.bytes, born), at = sequence_.count();
  if (at >= begin_ && at < end_) kept_.push_back({word, allocation.site});
  sequence_.Add(word);
  RowEvents& row = rows_[number];
  ++row.count;
  row.sum += WordOf(0, allocation.bytes, born) * 0xbf58476d1ce4e5b9;
}

}  // namespace vramtrack
