// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/collector.h"

#include <utility>

namespace vramtrack {

void MakeReplay(Pass pass, ProcessAnalysis* analysis, Replay* replay) {
  analysis->passes().Begin(pass);
  LedgerOptions options = analysis->replay_options();
  options.observers = replay->observers;
  if (replay->counterfactual.watching()) options.observers.push_back(&replay->counterfactual);
  replay->ledger = std::make_unique<Ledger>(analysis->trace(), analysis->plan(), std::move(options));
  replay->ledger->Replay();
}

void Collect(ProcessAnalysis* analysis, const std::vector<Collector*>& collectors, ProcessFindings* findings) {
  Replay replay;
  for (Collector* collector : collectors) {
    analysis->passes().AddCollector(Pass::kDetail, collector->name());
    collector->Prepare(&replay);
  }
  MakeReplay(Pass::kDetail, analysis, &replay);
  analysis->passes().Finish();
  for (Collector* collector : collectors) collector->Describe(replay, findings);
}

void CollectWithoutReplay(const std::vector<Collector*>& collectors, ProcessFindings* findings) {
  Replay replay;
  for (Collector* collector : collectors) collector->Prepare(&replay);
  for (Collector* collector : collectors) collector->Describe(replay, findings);
}

}  // namespace vramtrack
