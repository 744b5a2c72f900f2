// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/step_accuracy.h"

#include <algorithm>

#include "analyzer/findings/core/step_plan.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack::corpus {
namespace {

class Boundaries : public ReplayObserver {
 public:
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnStepEnd(uint32_t /*step*/) override { times.push_back(ledger_->last_ticks()); }

  std::vector<uint64_t> times;

 private:
  const Ledger* ledger_ = nullptr;
};

}  // namespace

StepAccuracy MeasureSteps(const Trace& trace, const std::vector<uint64_t>& true_ends, int micro_steps) {
  Boundaries boundaries;
  LedgerOptions options;
  options.observers.push_back(&boundaries);
  Ledger ledger(trace, PlanSteps(trace), options);
  ledger.Replay();

  // By step of the job, the boundaries within it. Where marks are the truth itself, they lie just at its end.
  std::vector<int> within(true_ends.size(), 0);
  for (const uint64_t time : boundaries.times) {
    const auto step = std::lower_bound(true_ends.begin(), true_ends.end(), time);
    if (step != true_ends.end()) ++within[static_cast<size_t>(step - true_ends.begin())];
  }
  StepAccuracy best;
  for (const int unit : {1, micro_steps}) {
    const auto found = static_cast<double>(std::count(within.begin(), within.end(), unit));
    const double recall = found / static_cast<double>(within.size());
    const double precision = boundaries.times.empty() ? 0 : found * unit / static_cast<double>(boundaries.times.size());
    const double f1 = found > 0 ? 2 * precision * recall / (precision + recall) : 0;
    if (f1 > best.f1) best = {f1, unit};
  }
  return best;
}

}  // namespace vramtrack::corpus
