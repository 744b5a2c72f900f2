// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/collector.h"

#include <system_error>
#include <thread>
#include <utility>

#include "analyzer/base/ordered_work.h"

namespace vramtrack {

void MakeReplay(Pass pass, ProcessAnalysis* analysis, Replay* replay) {
  analysis->passes().Begin(pass);
  LedgerOptions options = analysis->replay_options();
  options.observers = replay->observers;
  if (replay->counterfactual.watching()) options.observers.push_back(&replay->counterfactual);
  const auto after_apart = [replay] {
    for (const std::function<void()>& work : replay->after_apart) work();
  };
  std::thread apart;
  if (!replay->apart.empty() && analysis->options().threads != 1) {
    LedgerOptions of_apart = analysis->replay_options();
    of_apart.replayed = nullptr;  // each event counts once
    of_apart.observers = replay->apart;
    // Two replays keep two cores busy. Threads that decode for them would only move the events between the cores.
    if (ProcessorsToUse(analysis->options().threads) < 4) options.decode_ahead = of_apart.decode_ahead = false;
    replay->ledger_apart = std::make_unique<Ledger>(analysis->trace(), analysis->plan(), std::move(of_apart));
    try {
      apart = std::thread([&after_apart, ledger = replay->ledger_apart.get()] {
        ledger->Replay();
        after_apart();
      });
    } catch (const std::system_error&) {
      // Too many threads or too little memory: all follow one replay.
      replay->ledger_apart.reset();
    }
  }
  if (replay->ledger_apart == nullptr) {
    options.observers.insert(options.observers.end(), replay->apart.begin(), replay->apart.end());
  }
  replay->ledger = std::make_unique<Ledger>(analysis->trace(), analysis->plan(), std::move(options));
  replay->ledger->Replay();
  if (apart.joinable()) {
    apart.join();
  } else {
    after_apart();
  }
}

void Collect(ProcessAnalysis* analysis, const std::vector<Collector*>& collectors, ProcessFindings* findings) {
  Replay replay;
  for (Collector* collector : collectors) {
    analysis->passes().Ride(Pass::kDetail, collector->name());
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
