// SPDX-License-Identifier: Apache-2.0
//
// Scores of many runs as the figures of a table.
#ifndef TESTS_CORPUS_SUMMARY_H_
#define TESTS_CORPUS_SUMMARY_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/corpus/score.h"

namespace vramtrack::corpus {

// A share with what it is a share of.
struct Share {
  int hits = 0, of = 0;
  void Add(bool hit) {
    hits += hit;
    ++of;
  }
  double value() const { return of > 0 ? static_cast<double>(hits) / of : 0; }
};

constexpr double kCloseRate = .005;  // relative

// 0 of nothing.
double Quantile(const std::vector<double>& sorted, double share);

// What a rule gets right of a set of runs.
struct RuleSummary {
  Share recall;                 // of leaky runs
  Share false_runs;             // of fixed ones, lookalikes and clean ones: with some false leak
  Share false_lookalikes;       // of lookalikes only
  Share false_beside;           // of leaky ones: with some false leak beside
  Share false_sites;            // of all sites that do not leak
  Share top1, top3;             // of leaky runs that were found
  Share one_finding;            // of these: a report tells the leak in one finding; ours only
  double reciprocal_ranks = 0;  // sum over leaky runs
};

struct Summary {
  RuleSummary ours;
  std::vector<RuleSummary> rivals;
  std::vector<double> rate_errors;  // of leaks that were found, sorted
  Share rate_close;                 // within 0.5 %, of exact rates
  Share covered, covered_random;    // by the interval, of all, and of those with randomness to them
  Share onset_close;                // within 5 steps
  Share classes;                    // of watched sites that are no leaks
  double step_f1 = 0;               // sum over runs
  Share steps_right;                // F1 of .99 or more
  int runs = 0;
  std::map<std::pair<std::string, std::string>, int> confusion;  // the right class and what was said
};

// Of the runs for which `wanted` holds.
template <typename Wanted>
Summary Summarize(const std::vector<RunSpec>& runs, const std::vector<RunScore>& scores, const Wanted& wanted);

void AddTo(Summary* summary, const RunSpec& run, const RunScore& score);
void Finish(Summary* summary);

template <typename Wanted>
Summary Summarize(const std::vector<RunSpec>& runs, const std::vector<RunScore>& scores, const Wanted& wanted) {
  Summary summary;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (wanted(runs[i])) AddTo(&summary, runs[i], scores[i]);
  }
  Finish(&summary);
  return summary;
}

// Whether the run went as it should: a leak found, with nothing else called one; classes right; nothing found where
// there is nothing.
bool Passes(const RunSpec& run, const RunScore& score);

// Whether the run is one of a leak that a report should rank.
bool HasLeak(const RunSpec& run);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_SUMMARY_H_
