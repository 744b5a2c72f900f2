// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/summary.h"

#include <algorithm>

namespace vramtrack::corpus {
namespace {

constexpr double kCloseOnset = 5;  // steps
constexpr double kRightSteps = .99;

void AddTo(RuleSummary* summary, const RunSpec& run, const Detection& detection, int sites) {
  if (HasLeak(run)) {
    summary->recall.Add(detection.found);
    summary->false_beside.Add(detection.false_sites > 0);
    if (detection.found) {
      summary->top1.Add(detection.rank == 1);
      summary->top3.Add(detection.rank <= 3);
      summary->one_finding.Add(detection.true_findings == 1);
      summary->reciprocal_ranks += 1.0 / detection.rank;
    }
  } else {
    summary->false_runs.Add(detection.false_sites > 0);
    if (run.variant == Variant::kLookalike) summary->false_lookalikes.Add(detection.false_sites > 0);
  }
  summary->false_sites.hits += detection.false_sites;
  summary->false_sites.of += sites;
}

}  // namespace

double Quantile(const std::vector<double>& sorted, double share) {
  return sorted.empty() ? 0 : sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

bool HasLeak(const RunSpec& run) {
  return std::any_of(run.flows.begin(), run.flows.end(), [](const Flow& flow) { return flow.leaks; });
}

bool Passes(const RunSpec& run, const RunScore& score) {
  if (score.ours.false_sites > 0 || !score.reserve_right) return false;
  return HasLeak(run) ? score.ours.found : score.class_right;
}

void AddTo(Summary* summary, const RunSpec& run, const RunScore& score) {
  ++summary->runs;
  AddTo(&summary->ours, run, score.ours, score.sites);
  summary->rivals.resize(score.rivals.size());
  for (size_t i = 0; i < score.rivals.size(); ++i) AddTo(&summary->rivals[i], run, score.rivals[i], score.sites);
  if (score.rate_error) {
    summary->rate_errors.push_back(*score.rate_error);
    if (score.exact_rate) summary->rate_close.Add(*score.rate_error <= kCloseRate);
  }
  if (score.covered) {
    summary->covered.Add(*score.covered);
    if (!score.exact_rate) summary->covered_random.Add(*score.covered);
  }
  if (score.onset_error) summary->onset_close.Add(*score.onset_error <= kCloseOnset);
  for (const auto& [right, said] : score.classes) {
    ++summary->confusion[{right, said}];
    if (!HasLeak(run)) summary->classes.Add(right == said);
  }
  summary->step_f1 += score.step_f1;
  summary->steps_right.Add(score.step_f1 >= kRightSteps);
}

void Finish(Summary* summary) { std::sort(summary->rate_errors.begin(), summary->rate_errors.end()); }

}  // namespace vramtrack::corpus
