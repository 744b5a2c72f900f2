// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_FOLLOWED_PROCESS_H_
#define ANALYZER_FINDINGS_FOLLOWED_PROCESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {

// Looks at the trace of a process again and again while it is written. The replays that find the steps and give the
// verdicts go on where the last look ended; they begin anew when it turns out that the steps so far were others, which
// is rare. Thread-compatible.
class FollowedProcess {
 public:
  explicit FollowedProcess(std::string path) : path_(std::move(path)) {}

  // Returns what is found in the trace as it is now. The options must be the same each time.
  // Of a process that runs it is what a report on the same events says of sites, leaks, steps, devices and their
  // growth; what needs another replay is left out: peaks without a site, timelines, late frees and segments. The newest
  // kMarginSeconds are left out as well: their events may not all be in the file yet.
  // Of traces of bounded size, with CUPTI's records or with walks through Python's objects it is the whole report, made
  // anew; of a process that has ended too, made once. The error is one line.
  absl::StatusOr<ProcessFindings> Look(const AnalyzeOptions& options);
  // The same for a reading of the trace, which may be limited in time, that the caller has made.
  ProcessFindings LookAt(std::unique_ptr<Trace> newer, const AnalyzeOptions& options);

  // Return the number of events that the last look replayed for verdicts, and whether it went on where the one before
  // ended.
  uint64_t replayed() const { return replayed_; }
  bool went_on() const { return replays_.sites != nullptr && replayed_ < replays_.sites->ledger().events(); }

  // Returns the number of events that were replayed to find the steps from the order of allocations, at the last look
  // that did so; 0 if none did.
  uint64_t replayed_for_steps() const {
    return replays_.search.stream == nullptr ? 0 : replays_.search.stream->replayed();
  }

  static constexpr double kMarginSeconds = 0.1;

 private:
  void Forget();

  const std::string path_;
  std::unique_ptr<Trace> trace_;
  KeptReplays replays_;                   // of *trace_
  std::optional<ProcessFindings> ended_;  // of a process that has ended, whose trace has so many bytes:
  uint64_t ended_bytes_ = 0;
  uint64_t replayed_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FOLLOWED_PROCESS_H_
