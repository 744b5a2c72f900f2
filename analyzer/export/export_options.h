// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_EXPORT_OPTIONS_H_
#define ANALYZER_EXPORT_EXPORT_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/findings/core/analyze_options.h"

namespace vramtrack {

struct ExportOptions {
  enum class At {
    kPeak,  // of each device
    kEnd,
    kOom,   // the first allocation that failed for lack of memory
    kStep,  // the end of that step
  };
  // Which driver memory is exported where a framework's allocator takes part of it for its blocks.
  enum class Levels {
    kAll,        // the blocks, and what of the driver's memory is no segment: nothing twice
    kDriver,     // the driver's memory, segments as a whole
    kFramework,  // the blocks alone
  };

  At at = At::kPeak;
  uint64_t step = 0;  // of At::kStep: the job's own number
  // First and last step of what is counted as allocated, and of single events; none: all.
  std::optional<std::pair<uint64_t, uint64_t>> steps;
  Levels levels = Levels::kAll;
  std::string value = "inuse_space";  // of formats that hold one value a stack
  size_t max_events = 100'000;        // of formats that hold single events: the last ones of each device
  std::string table = "sites";        // of formats that hold tables, see tables.h
  AnalyzeOptions analyze;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_EXPORT_OPTIONS_H_
