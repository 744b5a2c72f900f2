// SPDX-License-Identifier: Apache-2.0
//
// The memory of the host that a process has, over its steps.
#ifndef ANALYZER_MODEL_HOST_H_
#define ANALYZER_MODEL_HOST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/device.h"
#include "analyzer/model/fields.h"

namespace vramtrack {

struct ReportHostFigure {
  uint64_t first = 0, last = 0, peak = 0;
  std::optional<ReportGrowth> growth;
  std::vector<uint64_t> low, high;

  bool grows() const { return growth && growth->ci_low > 0 && growth->refused.empty(); }
};

template <>
inline constexpr const char* kAbout<ReportHostFigure> = "A figure of the host's memory, in bytes";
template <class Visitor>
void Fields(Visitor& visit, ReportHostFigure& figure) {
  visit(1, "first", figure.first, "when the recording began");
  visit(2, "last", figure.last, "when it ended");
  visit(3, "peak", figure.peak);
  visit(4, "growth", figure.growth,
        "over the last two thirds of the steps; `refused` says why it is not called growth; `null` with too few steps");
  visit(5, "low", figure.low, "one value for each `step`");
  visit(6, "high", figure.high, "likewise");
}

struct ReportHost {
  uint32_t pid = 0;
  std::optional<int> rank;
  ReportHostFigure resident, pinned;
  uint64_t shared = 0;
  uint64_t readings = 0;
  std::vector<int64_t> step;
};

template <>
inline constexpr const char* kAbout<ReportHost> =
    "The memory of the host that a process has: of several processes, the one whose resident memory grows fastest, or "
    "else is the largest";
template <class Visitor>
void Fields(Visitor& visit, ReportHost& host) {
  visit(1, "pid", host.pid);
  visit(2, "rank", host.rank, "`null` without one");
  visit(3, "resident", host.resident, "in memory, read at step marks, at most every 10 ms");
  visit(4, "shared", host.shared, "of `resident.last`, bytes of files and of memory shared with other processes");
  visit(5, "pinned", host.pinned, "allocated by CUDA and page-locked; the sites of these allocations are in `sites`");
  visit(6, "readings", host.readings, "of `resident`");
  visit(7, "step", host.step, "the first step of each value of `low` and `high`; at most 300");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_HOST_H_
