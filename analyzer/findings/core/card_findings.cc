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

// Joins `count` successive parts of the run to a few spans. `most_of(part)`: the most bytes in a part. `end_of(part)`:
// its end in ticks.
template <typename MostOf, typename EndOf>
void AddSpans(size_t count, MostOf most_of, EndOf end_of, const TickClock& clock, CardUse* use) {
  const size_t per_span = count / kMostSpans + 1;
  for (size_t begin = 0; begin < count; begin += per_span) {
    const size_t end = std::min(begin + per_span, count);
    uint64_t most = 0;
    for (size_t part = begin; part < end; ++part) most = std::max(most, most_of(part));
    AddSpan(clock.RealtimeSeconds(end_of(end - 1)), most, use);
  }
}

// What the driver gave out to the process at most, in successive spans of its steps, or of time where it has none.
void AddSpansOf(const ProcessAnalysis& analysis, const Scope& driver, CardUse* use) {
  const TickClock& clock = analysis.trace().clock();
  const std::vector<uint64_t>& ends = analysis.ledger().step_ends();
  const LevelTimeline& levels = analysis.timeline();
  if (!driver.ceilings.empty()) {
    AddSpans(
        std::min(ends.size(), driver.ceilings.size()), [&](size_t step) { return driver.ceilings[step]; },
        [&](size_t step) { return ends[step]; }, clock, use);
    AddSpan(use->ended_s, driver.ceiling, use);
  } else if (driver.segments != nullptr || levels.in_steps()) {
    // The timeline has the framework's own memory only.
    AddSpan(use->ended_s, driver.peak, use);
  } else {
    const std::vector<Timeline::Bin>& bins = levels.bins(driver);
    AddSpans(
        bins.size(), [&](size_t bin) { return bins[bin].high[static_cast<size_t>(DeviceFigure::kLive)]; },
        [&](size_t bin) { return levels.start_ticks() + (bin + 1) * levels.bin_width(); }, clock, use);
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
    AddSpansOf(analysis, *driver, &use);
    if (driver->asked_ticks == 0) continue;
    use.asked_s = clock.RealtimeSeconds(driver->asked_ticks);
    use.in_use = driver->asked_used;
  }
  return uses;
}

}  // namespace vramtrack
