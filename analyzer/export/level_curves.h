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

// Curves of the memory of each device and the host over time, with a bounded number of points. If there are more
// changes than points, keeps the minimum and the maximum of each short span of time, at their exact times.
// Thread-compatible.
class LevelCurves final : public ReplayObserver {
 public:
  struct Point {
    uint64_t ticks, bytes;
  };
  enum Figure : uint32_t { kLive, kSegments, kDriver };
  // The device or host, and the figure: a framework's blocks, its segments, or the driver's memory.
  using Key = std::pair<DeviceIndex, Figure>;

  // Records from `first_ticks` to `last_ticks`, at most about `most_points` for each curve.
  LevelCurves(uint64_t first_ticks, uint64_t last_ticks, size_t most_points);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override { Look(allocated.allocation.site); }
  void OnFree(const ReplayAllocation& freed) override { Look(freed.allocation.site); }
  void OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t /*bytes*/, bool /*born*/) override { Look(site); }

  // Returns the curves after the replay, by time. Neighbouring points differ.
  std::map<Key, std::vector<Point>> Finish();

  static const char* Name(Figure figure);

 private:
  struct Curve {
    std::vector<Point> points;
    uint64_t span = UINT64_MAX;  // the current span
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
