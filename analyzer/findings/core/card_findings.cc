// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/card_findings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "analyzer/findings/core/device_findings.h"

namespace vramtrack {
namespace {

constexpr size_t kMostSpans = 200;

void AddSpan(double until_s, uint64_t most, CardUse* use) {
  use->until_s.push_back(std::min(use->ended_s, until_s));
  use->reserved.push_back(most);
}

// What the driver gave out to the process at most, in successive spans of its steps, or of time where it has none.
void AddSpans(const ProcessAnalysis& analysis, const Scope& driver, CardUse* use) {
  const TickClock& clock = analysis.trace().clock();
  const std::vector<uint64_t>& steps = driver.ceilings;
  if (!steps.empty()) {
    const std::vector<uint64_t>& ends = analysis.ledger().step_ends();
    const size_t per_span = steps.size() / kMostSpans + 1;
    for (size_t begin = 0; begin < steps.size(); begin += per_span) {
      const size_t end = std::min({begin + per_span, steps.size(), ends.size()});
      if (begin >= end) break;
      AddSpan(clock.RealtimeSeconds(ends[end - 1]),
              *std::max_element(steps.begin() + static_cast<std::ptrdiff_t>(begin),
                                steps.begin() + static_cast<std::ptrdiff_t>(end)),
              use);
    }
    AddSpan(use->ended_s, driver.ceiling, use);
    return;
  }
  const LevelTimeline& levels = analysis.timeline();
  if (driver.segments != nullptr || levels.in_steps()) {
    // The timeline has the framework's own memory only.
    AddSpan(use->ended_s, driver.peak, use);
    return;
  }
  const std::vector<Timeline::Bin>& bins = levels.bins(driver);
  const size_t per_span = bins.size() / kMostSpans + 1;
  for (size_t begin = 0; begin < bins.size(); begin += per_span) {
    const size_t end = std::min(begin + per_span, bins.size());
    uint64_t high = 0;
    for (size_t bin = begin; bin < end; ++bin) {
      high = std::max(high, bins[bin].high[static_cast<size_t>(DeviceFigure::kLive)]);
    }
    AddSpan(clock.RealtimeSeconds(levels.start_ticks() + end * levels.bin_width()), high, use);
  }
}

}  // namespace

std::vector<CardUse> DescribeCardUses(const ProcessAnalysis& analysis) {
  std::vector<CardUse> uses;
  const TickClock& clock = analysis.trace().clock();
  if (clock.start_realtime_ns() == 0) return uses;
  for (const auto& [index, device] : analysis.trace().definitions().devices) {
    const Scope* driver = ScopeOfDevice(analysis.ledger(), DeviceIndex(index));
    if (device.uuid.empty() || driver == nullptr) continue;
    CardUse& use = uses.emplace_back();
    use.device = index;
    use.uuid = device.uuid;
    use.name = device.name;
    use.total_bytes = device.total_bytes;
    use.began_s = static_cast<double>(clock.start_realtime_ns()) / 1e9;
    use.ended_s = std::max(use.began_s, clock.RealtimeSeconds(analysis.ledger().last_ticks()));
    use.peak = driver->peak;
    use.last = driver->live;
    AddSpans(analysis, *driver, &use);
    if (driver->asked_ticks == 0) continue;
    use.asked_s = clock.RealtimeSeconds(driver->asked_ticks);
    use.in_use = driver->asked_used;
  }
  return uses;
}

}  // namespace vramtrack
