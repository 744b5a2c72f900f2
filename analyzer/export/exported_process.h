// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_EXPORTED_PROCESS_H_
#define ANALYZER_EXPORT_EXPORTED_PROCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/base/indices.h"
#include "analyzer/export/export_options.h"
#include "analyzer/export/site_counts.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/process_summary.h"

namespace vramtrack {

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

  // Replays the trace once more with the observers. Calls `come` as MomentWatch does.
  void Replay(std::vector<ReplayObserver*> observers, std::function<void(DeviceIndex device)> come) const;

  // Returns "rank 3", or "pid 17" without ranks.
  std::string Name() const;
  // Returns ExportOptions::steps as indices.
  std::optional<std::pair<uint32_t, uint32_t>> StepSpan() const { return span_; }

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

// Returns whether sites of this kind are exported.
bool IsExported(const Site& site, ExportOptions::Levels levels);

// Returns one of the values that an option --value names: "inuse_space", "inuse_objects", "alloc_space",
// "alloc_objects".
uint64_t ValueOf(const SiteCounts& counts, const std::string& value);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_EXPORTED_PROCESS_H_
