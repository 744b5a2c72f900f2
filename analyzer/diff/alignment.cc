// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/alignment.h"

#include <algorithm>
#include <cmath>

namespace vramtrack {
namespace {

void CountStacks(const std::vector<const std::vector<uint32_t>*>& stacks, std::vector<uint32_t>* counts) {
  std::vector<size_t> last(counts->size(), SIZE_MAX);
  for (size_t i = 0; i < stacks.size(); ++i) {
    for (const uint32_t name : *stacks[i]) {
      if (last[name] == i) continue;
      last[name] = i;
      ++(*counts)[name];
    }
  }
}

}  // namespace

FrameWeights::FrameWeights(const std::vector<const std::vector<uint32_t>*>& base,
                           const std::vector<const std::vector<uint32_t>*>& next, size_t names)
    : weights_(names) {
  std::vector<uint32_t> in_base(names), in_next(names);
  CountStacks(base, &in_base);
  CountStacks(next, &in_next);
  const double stacks = static_cast<double>(base.size() + next.size());
  double sum = 0;
  size_t shared = 0;
  for (size_t i = 0; i < names; ++i) {
    if (in_base[i] == 0 || in_next[i] == 0) continue;
    weights_[i] = std::log(1 + stacks / (in_base[i] + in_next[i]));
    sum += weights_[i];
    ++shared;
  }
  const double usual = shared == 0 ? 1 : sum / static_cast<double>(shared);
  for (size_t i = 0; i < names; ++i) {
    if (in_base[i] == 0 || in_next[i] == 0) weights_[i] = usual;
  }
}

double FrameWeights::Similarity(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) const {
  double all = 0;
  for (const uint32_t name : a) all += weights_[name];
  for (const uint32_t name : b) all += weights_[name];
  if (all == 0) return 0;
  // The heaviest common subsequence, one row at a time.
  std::vector<double> before(b.size() + 1), now(b.size() + 1);
  for (const uint32_t name : a) {
    for (size_t j = 0; j < b.size(); ++j) {
      now[j + 1] = name == b[j] ? before[j] + weights_[name] : std::max(before[j + 1], now[j]);
    }
    std::swap(before, now);
  }
  return 2 * before[b.size()] / all;
}

}  // namespace vramtrack
