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
    kPeak,  // the peak of each device
    kEnd,
    kOom,   // the first allocation that failed for lack of memory
    kStep,  // the end of that step
  };
  // The driver memory that is exported if a framework's allocator divides part of it into blocks.
  enum class Levels {
    kAll,        // the blocks, and driver memory outside of segments: nothing is counted twice
    kDriver,     // the driver's memory, with segments as a whole
    kFramework,  // only the blocks
  };

  At at = At::kPeak;
  uint64_t step = 0;  // for At::kStep: the job's own step number
  // The first and last step whose allocations and single events are exported; nullopt: all.
  std::optional<std::pair<uint64_t, uint64_t>> steps;
  Levels levels = Levels::kAll;
  std::string value = "inuse_space";  // for formats with one value per stack
  bool modules = false;               // for these formats: frames are the names that lead to modules, not calls
  size_t max_events = 100'000;        // for formats with single events: keep the last ones of each device
  std::string table = "sites";        // for formats with tables, see tables.h
  AnalyzeOptions analyze;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_EXPORT_OPTIONS_H_
