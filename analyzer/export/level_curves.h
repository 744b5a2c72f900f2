// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_LEVEL_CURVES_H_
#define ANALYZER_EXPORT_LEVEL_CURVES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// How much there is at each moment, of each device and the host, in a bounded number of points: where there are more
// changes than that, the lowest and the highest of each short span of time, at the moments at which they were.
// Thread-compatible.
class LevelCurves final : public ReplayObserver {
 public:
  struct Point {
    uint64_t ticks, bytes;
  };
  enum Figure : uint32_t { kLive, kSegments, kDriver };
  // Device or host, and figure: what a framework has given out, its segments, the driver's memory.
  using Key = std::pair<DeviceIndex, Figure>;

  // From `first_ticks` to `last_ticks`; at most about `most_points` for each curve.
  LevelCurves(uint64_t first_ticks, uint64_t last_ticks, size_t most_points);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override { Look(allocated.allocation.site); }
  void OnFree(const ReplayAllocation& freed) override { Look(freed.allocation.site); }
  void OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t /*bytes*/, bool /*born*/) override { Look(site); }

  // After the replay. By time; neighbours differ.
  std::map<Key, std::vector<Point>> Finish();

  static const char* Name(Figure figure);

 private:
  struct Curve {
    std::vector<Point> points;
    uint64_t span = UINT64_MAX;  // the present one
    Point low{}, high{}, last{};
  };

  void Look(SiteIndex site);
  void Note(const Key& key, uint64_t bytes);
  static void Close(Curve* curve);

  const Ledger* ledger_ = nullptr;
  uint64_t first_, last_, span_ticks_;
  std::map<Key, Curve> curves_;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_LEVEL_CURVES_H_
