// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_COLLECTOR_H_
#define ANALYZER_FINDINGS_CORE_COLLECTOR_H_

#include <memory>
#include <vector>

#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {

// The replays that followed the verdicts.
struct Replays {
  const Ledger& detail;
  const Ledger* trials;  // null if no collector asked for it
};

// A question about one process that only a replay answers, once the verdicts on all sites are there. All collectors
// follow the same replay (Pass::kDetail), and where one asks for it another (Pass::kTrials). See find_in_process.cc.
class Collector {
 public:
  virtual ~Collector() = default;

  // What it finds, for the list of passes.
  virtual const char* name() const = 0;
  // Adds what it needs to the options of the replay: observers, sites to be watched. Called once.
  virtual void Prepare(LedgerOptions* options) = 0;
  // Whether there is something to try that only this replay has shown; adds what that needs to the options of the next.
  virtual bool PrepareTrials(const Ledger& /*detail*/, LedgerOptions* /*options*/) { return false; }
  // After all replays, in the order of the collectors: what those before it have found is there.
  virtual void Describe(const Replays& replays, ProcessFindings* findings) = 0;
};

// What each collector says, after the one or two replays that they all follow.
void Collect(ProcessAnalysis* analysis, const std::vector<Collector*>& collectors, ProcessFindings* findings);

// A replay once more, without histories.
std::unique_ptr<Ledger> ReplayAgain(ProcessAnalysis* analysis, Pass pass, LedgerOptions options);
LedgerOptions OptionsOfLaterReplays(const ProcessAnalysis& analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_COLLECTOR_H_
