// SPDX-License-Identifier: Apache-2.0
//
// Two processes, their matching sites, and what each did in the steps that both have.
#ifndef ANALYZER_DIFF_COMPARED_PAIR_H_
#define ANALYZER_DIFF_COMPARED_PAIR_H_

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/diff/compared_process.h"
#include "analyzer/diff/site_comparison.h"
#include "analyzer/diff/site_matching.h"
#include "analyzer/diff/step_blocks.h"

namespace vramtrack {

// The steps of two runs that can be compared.
struct StepWindows {
  StepWindow base, next;
  std::string normaliser;  // a description, as in the report; empty if the steps are compared as they are
};

// Finds the steps that both runs have, after the warm-up of both. If nearly all sites allocate N times as often in a
// step of one run as in a step of the other, N steps of the other run count as one. Where only groups of steps are
// known, windows and blocks begin and end with the groups.
StepWindows CompareSteps(const ComparedProcess& base, const ComparedProcess& next,
                         const std::vector<SiteMatch>& matches);

// Calls both functions, in parallel in two threads unless `threads` is 1.
void DoBoth(size_t threads, const std::function<void()>& base, const std::function<void()>& next);

// Opens both processes, base first. If windows replace the steps of both, the windows have the same size. `options`
// must outlive the result and can be changed by this function.
std::array<std::unique_ptr<ComparedProcess>, 2> OpenBoth(const Trace& base, const Trace& next, AnalyzeOptions* options);

// Two processes that are compared. Thread-compatible; the processes must outlive this object.
struct ComparedPair {
  ComparedProcess &base, &next;
  size_t threads = 1;
  SiteMatching matching;
  // Set by MeasureSteps.
  StepWindows windows;
  MeasuredRun base_run, next_run;  // without their sites
  std::vector<SitePair> evidence;  // about each match

  const std::vector<SiteMatch>& matches() const { return matching.matches; }
  // Returns the site in the new run if it exists there, otherwise in the base.
  const ProfileSite& SiteOf(const SiteMatch& match) const {
    return match.next.empty() ? base.sites()[match.base[0]] : next.sites()[match.next[0]];
  }
  bool HoldsNoMemory(const SiteMatch& match) const {
    return LevelOf(SiteOf(match).kind, IsSegments(match)) == Level::kHandle;
  }
  bool IsSegments(const SiteMatch& match) const {
    return (!match.base.empty() && base.sites()[match.base[0]].segments) ||
           (!match.next.empty() && next.sites()[match.next[0]].segments);
  }
};

// Finds the steps that both processes have, and measures what happened in them.
void MeasureSteps(ComparedPair* pair);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_PAIR_H_
