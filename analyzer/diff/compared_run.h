// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_COMPARED_RUN_H_
#define ANALYZER_DIFF_COMPARED_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "analyzer/attribution/blame.h"
#include "analyzer/diff/diff_site.h"
#include "analyzer/diff/run_profile.h"
#include "analyzer/diff/site_matching.h"
#include "analyzer/diff/step_windows.h"
#include "analyzer/findings/leak_findings.h"
#include "analyzer/findings/leak_groups.h"
#include "analyzer/findings/process_analysis.h"
#include "analyzer/ingest/trace.h"

namespace vramtrack {

// One of the two processes that are compared. Thread-compatible; the trace and the options must outlive it.
struct ComparedRun {
  ComparedRun(const Trace& traced, const AnalyzeOptions& options)
      : trace(traced), analysis(traced, options), sites(CollectSites(&analysis)) {}

  // Replays the process once more, for the sites of `matches`, whose members in this run are `which`.
  void Profile(const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*which, const StepWindow& window);

  // The ledger that `observers` have followed.
  std::unique_ptr<Ledger> ReplayWith(std::vector<ReplayObserver*> observers) const;

  // Of a site of the ledger.
  std::vector<ReportFrame> Frames(uint32_t site);

  // What turns what a step leaves behind into a rate as reports have it, see ReportSite::rate_unit.
  double rate_scale() const;

  const Trace& trace;
  ProcessAnalysis analysis;
  std::vector<DiffSite> sites;
  BlameFinder blame;

  // Made by Profile.
  std::vector<uint32_t> match_of_site;  // of the ledger
  std::unique_ptr<RunProfile> profile;
  std::unique_ptr<LeakOrder> order;
  std::vector<LeakGroup> leaks;
  std::map<size_t, size_t> leak_of_group;  // by index into ProcessAnalysis::groups()
};

// Does two things, at once in two threads unless `threads` is 1.
void DoBoth(size_t threads, const std::function<void()>& base, const std::function<void()>& next);

// The two, base first. Where windows stand for the steps of both, they are of the same size. `options` must outlive
// them and may be changed here.
std::array<std::unique_ptr<ComparedRun>, 2> MakeComparedRuns(const Trace& base, const Trace& next,
                                                             AnalyzeOptions* options);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_RUN_H_
