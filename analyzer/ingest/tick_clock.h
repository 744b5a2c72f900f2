// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TICK_CLOCK_H_
#define ANALYZER_INGEST_TICK_CLOCK_H_

#include <cstdint>

namespace vramtrack {

// Converts the ticks of a trace to seconds or nanoseconds since its recording started.
class TickClock {
 public:
  TickClock() = default;
  // `counters`: as in the header page. If they are invalid, a tick counts as a nanosecond.
  explicit TickClock(const uint64_t* counters);

  uint64_t start_ticks() const { return start_ticks_; }
  double ticks_per_second() const { return ticks_per_second_; }
  uint64_t start_realtime_ns() const { return start_realtime_ns_; }

  double Seconds(uint64_t ticks) const {
    return ticks <= start_ticks_ ? 0 : static_cast<double>(ticks - start_ticks_) / ticks_per_second_;
  }
  // Returns the seconds since 1970; valid if start_realtime_ns() is known.
  double RealtimeSeconds(uint64_t ticks) const {
    return static_cast<double>(start_realtime_ns_) / 1e9 + Seconds(ticks);
  }
  uint64_t Ns(uint64_t ticks) const { return static_cast<uint64_t>(Seconds(ticks) * 1e9); }

 private:
  uint64_t start_ticks_ = 0, start_realtime_ns_ = 0;
  double ticks_per_second_ = 1e9;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TICK_CLOCK_H_
