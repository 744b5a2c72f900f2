// SPDX-License-Identifier: Apache-2.0
//
// Which runs are made, and the making of them.
#ifndef TESTS_CORPUS_SUITES_H_
#define TESTS_CORPUS_SUITES_H_

#include <functional>
#include <string>
#include <vector>

#include "tests/corpus/score.h"

namespace vramtrack::corpus {

struct Selection {
  std::vector<std::string> cases;  // by id; empty: all
  std::vector<int> steps = {50, 100, 200, 500, 1000};
  int seeds = 5;
};

// How the runs of a seed tell their steps: of five seeds two mark them, two say nothing at all, and one has an
// optimizer's or NVTX's marks.
Marking MarkingOf(uint64_t seed);

// Each case leaky and fixed, each lookalike.
std::vector<RunSpec> CaseRuns(const Selection& selection);
// A clean job of which every n-th object of one site is kept: n = 1, 2, 5, 10, 50, at 50 sites in turn. Of a site with
// several objects in a step they are a pattern of their own.
std::vector<RunSpec> InjectedRuns(const Selection& selection);
// Jobs that leak nothing, four times as many seeds.
std::vector<RunSpec> CleanRuns(const Selection& selection);
// Two leaks at once, and a leak beside each lookalike.
std::vector<RunSpec> PairRuns(const Selection& selection);

// Calls work(i) for each i below `count`, by so many threads. `progress` is told how many are done, by one thread at a
// time.
void ForEach(size_t count, int threads, const std::function<void(size_t)>& work,
             const std::function<void(size_t)>& progress = nullptr);

// Scores in the order of the runs.
std::vector<RunScore> RunAll(const std::vector<RunSpec>& runs, int threads,
                             const std::function<void(size_t)>& progress = nullptr, const AnalyzeOptions& options = {});

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_SUITES_H_
