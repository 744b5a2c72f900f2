// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/collector.h"

#include <utility>

namespace vramtrack {

LedgerOptions OptionsOfLaterReplays(const ProcessAnalysis& analysis) {
  LedgerOptions options = analysis.replay_options();
  options.histories = options.timeline = false;
  return options;
}

std::unique_ptr<Ledger> ReplayAgain(ProcessAnalysis* analysis, Pass pass, LedgerOptions options) {
  analysis->passes().Begin(pass);
  auto ledger = std::make_unique<Ledger>(analysis->trace(), analysis->plan(), std::move(options));
  ledger->Replay();
  return ledger;
}

void Collect(ProcessAnalysis* analysis, const std::vector<Collector*>& collectors, ProcessFindings* findings) {
  LedgerOptions options = OptionsOfLaterReplays(*analysis);
  LedgerOptions trial_options = options;
  for (Collector* collector : collectors) {
    analysis->passes().Ride(Pass::kDetail, collector->name());
    collector->Prepare(&options);
  }
  const std::unique_ptr<Ledger> detail = ReplayAgain(analysis, Pass::kDetail, std::move(options));
  std::vector<const char*> trying;
  for (Collector* collector : collectors) {
    if (collector->PrepareTrials(*detail, &trial_options)) trying.push_back(collector->name());
  }
  std::unique_ptr<Ledger> trials;
  if (!trying.empty()) {
    for (const char* name : trying) analysis->passes().Ride(Pass::kTrials, name);
    trials = ReplayAgain(analysis, Pass::kTrials, std::move(trial_options));
  }
  analysis->passes().Finish();
  for (Collector* collector : collectors) collector->Describe({*detail, trials.get()}, findings);
}

}  // namespace vramtrack
