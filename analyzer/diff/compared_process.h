// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_COMPARED_PROCESS_H_
#define ANALYZER_DIFF_COMPARED_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/diff/step_blocks.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/model/diff_report.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/profile/event_sequence.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// What a report says about a process as a whole.
struct ProcessFacts {
  DiffSide side;                     // of this process alone
  std::vector<ReportSite> reported;  // the sites that a report lists; at least what SiteOutline() has of them
};

ProcessFacts FactsOfTrace(const ProcessAnalysis& analysis);
// Returns the facts about a process of the summary at `path`.
ProcessFacts FactsOfSummary(const std::string& path, const ProcessFindings& findings);

// One of two compared processes, as a step profile. The profile of a summary exists already. The profile of a trace is
// computed by one replay, only for the steps and sites that are compared. Thread-compatible.
class ComparedProcess {
 public:
  // Constructs it for a trace. The trace and the options must outlive this object.
  ComparedProcess(const Trace& trace, const AnalyzeOptions& options);
  // Constructs it for a process of a summary.
  ComparedProcess(ProcessFacts facts, StepProfile profile);

  const ProcessFacts& facts() const { return facts_; }
  // Returns the profile; its windows, leaks and events are valid after Measure().
  const StepProfile& profile() const { return profile_; }
  const std::vector<ProfileSite>& sites() const { return profile_.sites; }

  // Sets the category of a site of a trace.
  void FindCategory(size_t site);
  // Returns the factor that converts what a step leaves behind into a rate as reports have it, see
  // ReportSite::rate_unit.
  double rate_scale() const;
  // Returns the number of steps, counted from step 0, whose data are only known together for devices.
  uint32_t steps_in_bin() const { return steps_in_bin_; }

  // Measures what each match did. `members` are the site indices of each match. Call it once. If `options.known` wants
  // the findings of a report, they are made in the same replay.
  MeasuredRun Measure(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                      const ComparedProcess& other);
  // Adds the findings to `options.known` if it wants them and does not have them; `extra` is made in the same replay.
  // Returns whether it did.
  bool AddFindings(Collector* extra = nullptr);

  // Returns whether the process has a trace. sequence(), Part() and FramesOf() need one.
  bool has_trace() const { return analysis_ != nullptr; }
  // Returns the allocations and frees one by one, numbered by match; valid after Measure() with another process that
  // has a trace.
  const EventSequence& sequence() const { return sequence_; }
  // Returns events [begin, end) of the sequence. Replays the trace once more.
  std::vector<SequenceEvent> Part(uint64_t begin, uint64_t end) const;
  // Returns the frames of a site, as numbered in SequenceEvent::site.
  std::vector<ReportFrame> FramesOf(SiteIndex site) const;

 private:
  void MeasureTrace(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                    const ComparedProcess& other);

  ProcessFacts facts_;
  std::unique_ptr<ProcessAnalysis> analysis_;  // for a trace
  StepProfile profile_;
  uint32_t steps_in_bin_ = 1;
  bool own_windows_ = false, has_findings_ = false;  // own_windows_: the windows are not those of the other run
  // Set by Measure() for a trace.
  SiteRows rows_;
  EventSequence sequence_;
};

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_PROCESS_H_
