// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_COLLECTOR_H_
#define ANALYZER_FINDINGS_CORE_COLLECTOR_H_

#include <memory>
#include <vector>

#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/peaks/counterfactual.h"

namespace vramtrack {

// A replay after the verdicts: its observers, and the sites for which it computes the peak without them.
struct Replay {
  std::vector<ReplayObserver*> observers;  // not owned
  Counterfactual counterfactual;
  // Set by the replay; observers may read them until all collectors have described. Null: no replay was made.
  std::unique_ptr<Ledger> ledger;

  bool made() const { return ledger != nullptr; }
};

// A part of the findings on one process, made after the verdicts. All collectors follow the same replay
// (Pass::kDetail). See find_in_process.cc.
class Collector {
 public:
  virtual ~Collector() = default;

  // Returns what it finds, for the list of passes.
  virtual const char* name() const = 0;
  // Adds its observers, which it owns, and the sites to watch. Called once.
  virtual void Prepare(Replay* detail) = 0;
  // Writes its findings. Called after the replay in the order of the collectors, so the findings of earlier collectors
  // are complete.
  virtual void Describe(const Replay& replay, ProcessFindings* findings) = 0;
};

// Makes the replay that all `collectors` follow, and lets each of them write its findings.
void Collect(ProcessAnalysis* analysis, const std::vector<Collector*>& collectors, ProcessFindings* findings);
// Lets each of `collectors` write what it knows without a replay. Not every collector knows anything then.
void CollectWithoutReplay(const std::vector<Collector*>& collectors, ProcessFindings* findings);

// Makes one more replay, with the observers of `replay`.
void MakeReplay(Pass pass, ProcessAnalysis* analysis, Replay* replay);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_COLLECTOR_H_
