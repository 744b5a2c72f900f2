// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cupti/activity_clock.h"

#include <algorithm>

namespace vramtrack {

void ActivityClock::Add(uint64_t cupti_ns, uint64_t ticks) {
  if (cupti_ns != 0) ties_.emplace_back(cupti_ns, ticks);
}

void ActivityClock::Freeze(double ticks_per_second) {
  ticks_per_ns_ = ticks_per_second / 1e9;
  std::sort(ties_.begin(), ties_.end());
  // Two clocks do not run backwards against each other: a tie that says so is damage.
  std::vector<std::pair<uint64_t, uint64_t>> kept;
  for (const auto& tie : ties_) {
    if (kept.empty() || (tie.first > kept.back().first && tie.second > kept.back().second)) kept.push_back(tie);
  }
  ties_ = std::move(kept);
  if (ties_.size() < 2) return;
  // Better than what a tracer that was killed estimated when it began.
  ticks_per_ns_ = static_cast<double>(ties_.back().second - ties_.front().second) /
                  static_cast<double>(ties_.back().first - ties_.front().first);
}

uint64_t ActivityClock::Ticks(uint64_t cupti_ns) const {
  if (ties_.empty()) return 0;
  auto after = std::upper_bound(ties_.begin(), ties_.end(), std::make_pair(cupti_ns, UINT64_MAX));
  const auto& tie = after == ties_.begin() ? *after : *std::prev(after);
  double slope = ticks_per_ns_;
  if (after != ties_.begin() && after != ties_.end()) {
    slope = static_cast<double>(after->second - tie.second) / static_cast<double>(after->first - tie.first);
  }
  const bool before = cupti_ns < tie.first;
  const double distance = static_cast<double>(before ? tie.first - cupti_ns : cupti_ns - tie.first) * slope;
  const auto ticks = static_cast<uint64_t>(std::min(distance, 9e18));
  return before ? tie.second - std::min(ticks, tie.second) : tie.second + ticks;
}

}  // namespace vramtrack
