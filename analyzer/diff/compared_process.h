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
  // Where steps are windows of so many bytes allocated; 0: they are steps.
  uint64_t window_bytes = 0;
  // What turns what a step leaves behind into a rate as reports have it, see ReportSite::rate_unit.
  double rate_scale = 1;
  // That are known together only, counted from step 0: of sites, and of devices.
  uint32_t steps_in_window = 1, steps_in_bin = 1;
  // What a report lists: level, kind, device and frames of each.
  std::vector<ReportSite> reported;
};

ProcessFacts FactsOfTrace(const ProcessAnalysis& analysis);
// `path`: of the summary.
ProcessFacts FactsOfSummary(const std::string& path, const ProcessFindings& findings, const StepProfile& profile);

// All allocations and frees, with sites numbered as they first allocate.
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

// One of two runs that are compared: what its step profile says. That of a summary is there; that of a trace is made,
// with one replay, for just the steps and sites that are compared. Thread-compatible.
class ComparedProcess {
 public:
  // The trace and the options must outlive it.
  ComparedProcess(const Trace& trace, const AnalyzeOptions& options);
  // Of a summary.
  ComparedProcess(ProcessFacts facts, StepProfile profile);

  const ProcessFacts& facts() const { return facts_; }
  const std::vector<DiffSite>& sites() const { return sites_; }
  // What a site is for, see attribution/category.h. Asked again, it is what it was at first.
  const std::string& Category(size_t site);

  // What each match did, by indices of its sites. Once. Where `options.known` wants the findings of a report they are
  // made with the same replay.
  ProcessProfile Measure(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                         const ComparedProcess& other);
  // For `options.known`, unless it has them.
  void TellFindings();

  // After Measure.
  const LeakSites& leaks() const { return leaks_; }
  // Unless both have traces.
  const RunDigest& digest() const { return digest_; }

  // Below: where the trace is there.
  bool has_trace() const { return analysis_ != nullptr; }
  // The order within the past of a trace of bounded size is not known.
  bool is_ordered() const { return has_trace() ? analysis_->trace().past() == nullptr : digest_.ordered; }
  // After Measure with another trace: allocations and frees one by one, numbered by match.
  const EventSequence& sequence() const { return sequence_; }
  // Events [begin, end) of it, with one more replay.
  std::vector<SequenceEvent> Part(uint64_t begin, uint64_t end) const;
  // Of SequenceEvent::site.
  std::vector<ReportFrame> FramesOf(SiteIndex site) const;

 private:
  StepProfile MeasureTrace(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                           const ComparedProcess& other);
  bool WantsFindings() const;

  ProcessFacts facts_;
  std::vector<DiffSite> sites_;
  LeakSites leaks_;
  RunDigest digest_;
  StepProfile profile_;                        // of a summary
  std::unique_ptr<ProcessAnalysis> analysis_;  // of a trace
  std::map<size_t, std::string> categories_;
  bool own_windows_ = false, told_ = false;  // the first: not those of the other run
  // Made by Measure, of a trace.
  SiteRows rows_;
  EventSequence sequence_;
};

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_PROCESS_H_
