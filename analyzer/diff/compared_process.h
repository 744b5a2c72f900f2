// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_COMPARED_PROCESS_H_
#define ANALYZER_DIFF_COMPARED_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/diff/step_blocks.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/profile/diff_site.h"
#include "analyzer/profile/event_sequence.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

struct ProcessFacts {
  std::string path;
  ReportProcess process;
  ReportSteps steps;
  RunShape run;
  std::string incomplete;  // why too much of the record is missing; empty if it is not
  // The size of a window, in allocated bytes, if windows replace steps; otherwise 0.
  uint64_t window_bytes = 0;
  // The factor that converts what a step leaves behind into a rate as reports have it, see ReportSite::rate_unit.
  double rate_scale = 1;
  // The number of steps, counted from step 0, whose data are only known together: for sites, and for devices.
  uint32_t steps_in_window = 1, steps_in_bin = 1;
  // The sites that a report lists, with only level, kind, device and frames.
  std::vector<ReportSite> reported;
};

ProcessFacts FactsOfTrace(const ProcessAnalysis& analysis);
// Returns the facts about a process of the summary at `path`.
ProcessFacts FactsOfSummary(const std::string& path, const ProcessFindings& findings, const StepProfile& profile);

// A digest of all allocations and frees. Sites are numbered in the order of their first allocation.
struct RunDigest {
  struct OfSite {
    uint32_t number = 0;
    uint64_t events = 0, sum = 0;
  };

  bool ordered = false;  // the order is known
  bool whole = false;    // all sites are known
  uint64_t events = 0, hash = 0;
  uint64_t sites_hash = 0;
  std::vector<OfSite> sites;  // by ComparedProcess::sites()
};

// One of two compared processes, as a step profile. The profile of a summary exists already. The profile of a trace is
// computed by one replay, only for the steps and sites that are compared. Thread-compatible.
class ComparedProcess {
 public:
  // Constructs it for a trace. The trace and the options must outlive this object.
  ComparedProcess(const Trace& trace, const AnalyzeOptions& options);
  // Constructs it for a process of a summary.
  ComparedProcess(ProcessFacts facts, StepProfile profile);

  const ProcessFacts& facts() const { return facts_; }
  const std::vector<DiffSite>& sites() const { return sites_; }
  // Returns the category of a site, see attribution/category.h. The result of the first call is kept.
  const std::string& Category(size_t site);

  // Measures what each match did. `members` are the site indices of each match. Call it once. If `options.known` wants
  // the findings of a report, they are made in the same replay.
  ProcessProfile Measure(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                         const ComparedProcess& other);
  // Adds the findings to `options.known`, unless it has them.
  void TellFindings();

  // Returns the leaks; valid after Measure().
  const LeakSites& leaks() const { return leaks_; }
  // Returns the digest; valid unless both processes have traces.
  const RunDigest& digest() const { return digest_; }

  // Returns whether the process has a trace. sequence(), Part() and FramesOf() need one.
  bool has_trace() const { return analysis_ != nullptr; }
  // Returns whether the order of events is known: it is unknown for the old part of a trace of bounded size.
  bool is_ordered() const { return has_trace() ? analysis_->trace().past() == nullptr : digest_.ordered; }
  // Returns the allocations and frees one by one, numbered by match; valid after Measure() with another process that
  // has a trace.
  const EventSequence& sequence() const { return sequence_; }
  // Returns events [begin, end) of the sequence. Replays the trace once more.
  std::vector<SequenceEvent> Part(uint64_t begin, uint64_t end) const;
  // Returns the frames of a site, as numbered in SequenceEvent::site.
  std::vector<ReportFrame> FramesOf(SiteIndex site) const;

 private:
  StepProfile MeasureTrace(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                           const ComparedProcess& other);
  bool WantsFindings() const;

  ProcessFacts facts_;
  std::vector<DiffSite> sites_;
  LeakSites leaks_;
  RunDigest digest_;
  StepProfile profile_;                        // for a summary
  std::unique_ptr<ProcessAnalysis> analysis_;  // for a trace
  std::map<size_t, std::string> categories_;
  bool own_windows_ = false, told_ = false;  // own_windows_: the windows are not those of the other run
  // Set by Measure() for a trace.
  SiteRows rows_;
  EventSequence sequence_;
};

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_PROCESS_H_
