// SPDX-License-Identifier: Apache-2.0
//
// What a comparison asks of a run, be it known by its trace or by a summary.
#ifndef ANALYZER_DIFF_COMPARED_PROCESS_H_
#define ANALYZER_DIFF_COMPARED_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/diff/site_matching.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/model/report.h"
#include "analyzer/profile/diff_site.h"
#include "analyzer/profile/event_sequence.h"
#include "analyzer/profile/leak_sites.h"
#include "analyzer/profile/process_profile.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

struct ProcessFacts {
  std::string path;
  ReportProcess process;
  ReportSteps steps;
  RunShape run;
  // What turns what a step leaves behind into a rate as reports have it, see ReportSite::rate_unit.
  double rate_scale = 1;
  uint32_t steps_in_window = 1;  // that are known together only, counted from step 0
  // What a report lists: level, kind, device and frames of each.
  std::vector<ReportSite> reported;
};

// Allocations and frees of a trace one by one, as sites that are matched are numbered. After Profile.
class EventSource {
 public:
  virtual ~EventSource() = default;

  virtual const EventSequence& sequence() const = 0;
  // Events [begin, end) of it, with one more replay.
  virtual std::vector<SequenceEvent> Part(uint64_t begin, uint64_t end) const = 0;
  // Of SequenceEvent::site.
  virtual std::vector<ReportFrame> FramesOf(uint32_t site) = 0;
};

// One of the two. Thread-compatible.
class ComparedProcess {
 public:
  virtual ~ComparedProcess() = default;

  const ProcessFacts& facts() const { return facts_; }
  const std::vector<DiffSite>& sites() const { return sites_; }
  // What a site is for, see attribution/category.h.
  virtual std::string Category(size_t site) = 0;

  // What it did in the steps of `window`, for the sites of `matches`, whose members in this run are `which`. Once.
  virtual ProcessProfile Profile(const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*which,
                                 const StepWindow& window) = 0;
  // After Profile.
  const LeakSites& leaks() const { return leaks_; }
  // Null: events are not known one by one, or not their order.
  virtual EventSource* events() { return nullptr; }
  // Null: more is known than sums.
  virtual const StepProfile* sums() const { return nullptr; }

 protected:
  ProcessFacts facts_;
  std::vector<DiffSite> sites_;
  LeakSites leaks_;
};

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_PROCESS_H_
