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

// A replay that follows the verdicts: who is told of it, and the peak without whichever sites somebody asks for.
struct Replay {
  std::vector<ReplayObserver*> observers;  // not owned
  Counterfactual counterfactual;
  std::unique_ptr<Ledger> ledger;  // once it is made: observers may look at it until all have described
};
struct Replays {
  Replay detail;
  Replay trials;  // made only if a collector asks for it
};

// A question about one process that only a replay answers, once the verdicts on all sites are there. All collectors
// follow the same replay (Pass::kDetail), and where one asks for it another (Pass::kTrials). See find_in_process.cc.
class Collector {
 public:
  virtual ~Collector() = default;

  // What it finds, for the list of passes.
  virtual const char* name() const = 0;
  // Adds the observers that it owns, and the sites to be watched. Called once.
  virtual void Prepare(Replay* detail) = 0;
  // Whether there is something to try that only this replay has shown; adds what that needs to the next.
  virtual bool PrepareTrials(Replay* /*trials*/) { return false; }
  // After all replays, in the order of the collectors: what those before it have found is there.
  virtual void Describe(const Replays& replays, ProcessFindings* findings) = 0;
};

// What each collector says, after the one or two replays that they all follow.
void Collect(ProcessAnalysis* analysis, const std::vector<Collector*>& collectors, ProcessFindings* findings);

// One more replay, which those that it names follow.
void MakeReplay(Pass pass, ProcessAnalysis* analysis, Replay* replay);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_COLLECTOR_H_
