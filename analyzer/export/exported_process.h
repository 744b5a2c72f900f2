// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_EXPORTED_PROCESS_H_
#define ANALYZER_EXPORT_EXPORTED_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/summary/process_summary.h"

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

// What a site allocated, and how much of it is in use at the exported moment. Driver memory that holds segments of a
// framework's allocator is also counted separately.
struct SiteCounts {
  uint64_t alloc_objects = 0, alloc_bytes = 0;
  uint64_t inuse_objects = 0, inuse_bytes = 0;
  uint64_t inuse_segment_bytes = 0;  // part of inuse_bytes

  SiteCounts& operator+=(const SiteCounts& other);
};

// A stack that allocated memory of one kind on one device.
struct ExportedSite {
  SiteIndex index;
  StackIndex stack = kEmptyStack;
  std::string level, kind, device, category, owner, verdict;  // device: "cuda:0", or "host"
  SiteCounts counts;
};

// One traced and analysed process, from which every format is made. Thread-compatible.
class ExportedProcess {
 public:
  // Analyses a trace. `trace` and `options` must outlive the result. The error is one line: the step does not exist, or
  // no allocation failed.
  static absl::StatusOr<std::unique_ptr<ExportedProcess>> Make(const Trace& trace, const ExportOptions& options);

  const Trace& trace() const { return analysis_.trace(); }
  const ExportOptions& options() const { return options_; }
  ProcessAnalysis& analysis() { return analysis_; }
  const Ledger& ledger() const { return analysis_.ledger(); }
  const std::vector<OutOfMemory>& failures() const { return analysis_.failures().all(); }

  // Returns the sites with a nonzero count, in the order of the trace. The first call replays the trace.
  const std::vector<ExportedSite>& sites() {
    if (!counted_) Count();
    return sites_;
  }
  // Returns the findings about the process. The first call replays the trace several times. Sites have the ids that a
  // report of this process alone gives them.
  const ProcessSummary& summary();
  // Returns the frames of a stack, innermost first.
  std::vector<ReportFrame> Frames(StackIndex stack) { return analysis_.shown().Frames(stack); }

  // Replays the trace once more with the observers. Calls `come` when the exported moment is reached, after the
  // observers have seen its event: the peak of each device and the host, or one moment for kAllDevices.
  void Replay(
      std::vector<ReplayObserver*> observers,
      const std::function<void(DeviceIndex device)>& come = [](DeviceIndex) {}) const;
  static constexpr DeviceIndex kAllDevices{UINT32_MAX - 1};  // stands for all devices and the host

  // Returns "rank 3", or "pid 17" without ranks.
  std::string Name() const;
  // Returns ExportOptions::steps as indices.
  const std::optional<std::pair<uint32_t, uint32_t>>& StepSpan() const { return span_; }
  bool IsInSpan(uint32_t step) const { return !span_ || (step >= span_->first && step <= span_->second); }

 private:
  ExportedProcess(const Trace& trace, const ExportOptions& options);
  // Returns the index of the step that the job calls `number`; nullopt if that step does not exist.
  std::optional<uint32_t> StepIndex(uint64_t number) const;
  absl::Status FindMoment();
  void Count();

  const ExportOptions& options_;
  ProcessAnalysis analysis_;
  uint32_t step_ = 0;
  std::optional<std::pair<uint32_t, uint32_t>> span_;
  bool counted_ = false;
  std::vector<ExportedSite> sites_;
  std::optional<ProcessSummary> summary_;
};

// Returns whether memory of this level is exported, and whether sites of this kind are.
bool IsWanted(Level level, ExportOptions::Levels levels);
bool IsExported(const Site& site, ExportOptions::Levels levels);

// Returns "cuda:0", or "host".
std::string DeviceText(DeviceIndex device);

// Returns one of the values that an option --value names: "inuse_space", "inuse_objects", "alloc_space",
// "alloc_objects".
uint64_t ValueOf(const SiteCounts& counts, const std::string& value);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_EXPORTED_PROCESS_H_
