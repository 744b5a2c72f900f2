// SPDX-License-Identifier: Apache-2.0
//
// Two processes, what in them is the same, and what each did in the steps that both have.
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
  std::string normaliser;  // in words, as in the report; empty: the steps are alike
};

// Finds the steps that both runs have, after the warm-up of both. If nearly all sites allocate N times as often in a
// step of one run as in a step of the other, N steps of the other run count as one. Where only groups of steps are
// known, windows and blocks begin and end with the groups.
StepWindows CompareSteps(const ComparedProcess& base, const ComparedProcess& next,
                         const std::vector<SiteMatch>& matches);

// Does two things, at once in two threads unless `threads` is 1.
void DoBoth(size_t threads, const std::function<void()>& base, const std::function<void()>& next);

// The two, base first. Where windows stand for the steps of both, they are of the same size. `options` must outlive
// them and may be changed here.
std::array<std::unique_ptr<ComparedProcess>, 2> OpenBoth(const Trace& base, const Trace& next, AnalyzeOptions* options);

// Thread-compatible; the processes must outlive it.
struct ComparedPair {
  ComparedProcess &base, &next;
  size_t threads = 1;
  SiteMatching matching;
  // Made by MeasureSteps.
  StepWindows windows;
  ProcessProfile base_profile, next_profile;

  const std::vector<SiteMatch>& matches() const { return matching.matches; }
  // Of the new run where it is there.
  const DiffSite& SiteOf(const SiteMatch& match) const {
    return match.next.empty() ? base.sites()[match.base[0]] : next.sites()[match.next[0]];
  }
  const std::string& CategoryOf(const SiteMatch& match) {
    return match.next.empty() ? base.Category(match.base[0]) : next.Category(match.next[0]);
  }
  bool IsSegments(const SiteMatch& match) const {
    return (!match.base.empty() && base.sites()[match.base[0]].segments) ||
           (!match.next.empty() && next.sites()[match.next[0]].segments);
  }
};

// Finds the steps that both have and what happened in them.
void MeasureSteps(ComparedPair* pair);

// What is known of each match. The series move there from the pair's profiles.
std::vector<SitePair> TakeEvidence(ComparedPair* pair);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_PAIR_H_
