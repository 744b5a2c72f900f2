// SPDX-License-Identifier: Apache-2.0
//
// Memory that a process releases and maps again at the same addresses.
#ifndef ANALYZER_MODEL_SLEEP_H_
#define ANALYZER_MODEL_SLEEP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"

namespace vramtrack {

struct ReportSleepLine {
  Level level = Level::kDriver;
  std::string owner;
  std::vector<ReportFrame> stack;
  uint64_t last_bytes = 0;
  std::optional<double> bytes_per_cycle;
};

template <>
inline constexpr const char* kAbout<ReportSleepLine> = "A line whose memory a device held while the process slept";
template <class Visitor>
void Fields(Visitor& visit, ReportSleepLine& line) {
  visit(1, "level", field::OneOf{line.level, {Level::kDriver, Level::kFramework}});
  visit(2, "owner", line.owner, "the library that allocated, or the job's own code");
  visit(3, "stack", line.stack, "of the call that allocated; of the largest part if several stacks share the line");
  visit(5, "last_bytes", line.last_bytes, "held in the last sleep");
  visit(6, "bytes_per_cycle", line.bytes_per_cycle, "growth from cycle to cycle; `null` with fewer than three cycles");
}

struct ReportSleep {
  uint32_t device = 0;
  uint64_t cycles = 0;
  uint64_t released_bytes = 0, first_bytes = 0, last_bytes = 0;
  std::optional<double> bytes_per_cycle;
  std::vector<ReportSleepLine> lines;
};

template <>
inline constexpr const char* kAbout<ReportSleep> =
    "Cycles of sleep and wake on a device: memory was unmapped while its addresses stayed in use, and mapped again at "
    "the same addresses";
template <class Visitor>
void Fields(Visitor& visit, ReportSleep& sleep) {
  visit(1, "device", sleep.device);
  visit(2, "cycles", sleep.cycles, "complete ones");
  visit(10, "released_bytes", sleep.released_bytes, "that slept in the last cycle: address space without memory");
  visit(11, "first_bytes", sleep.first_bytes, "in use on the device in the first sleep, of all that is known");
  visit(12, "last_bytes", sleep.last_bytes, "in the last sleep");
  visit(5, "bytes_per_cycle", sleep.bytes_per_cycle,
        "growth from the second cycle on; `null` with fewer than three cycles");
  visit(8, "lines", sleep.lines, "what lived through the sleep: by growth, then by size in the last sleep");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_SLEEP_H_
