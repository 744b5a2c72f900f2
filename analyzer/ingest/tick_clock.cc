// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/tick_clock.h"

#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

// Over a shorter time the two clocks' reading costs as much as it measures.
constexpr uint64_t kMinCalibrationNs = 1000000;

}  // namespace

TickClock::TickClock(const uint64_t* counters)
    : start_ticks_(counters[schema::COUNTER_CLOCK_START_TICKS]),
      start_realtime_ns_(counters[schema::COUNTER_CLOCK_START_REALTIME_NS]) {
  const uint64_t estimate = counters[schema::COUNTER_TICKS_PER_SECOND];
  if (estimate != 0) ticks_per_second_ = static_cast<double>(estimate);
  const uint64_t start_ns = counters[schema::COUNTER_CLOCK_START_MONOTONIC_NS];
  const uint64_t last_ticks = counters[schema::COUNTER_CLOCK_TICKS];
  const uint64_t last_ns = counters[schema::COUNTER_CLOCK_MONOTONIC_NS];
  if (last_ticks > start_ticks_ && last_ns > start_ns && last_ns - start_ns >= kMinCalibrationNs) {
    ticks_per_second_ = static_cast<double>(last_ticks - start_ticks_) * 1e9 / static_cast<double>(last_ns - start_ns);
  }
}

}  // namespace vramtrack
