// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/compared_trace.h"

#include <algorithm>
#include <utility>

#include "analyzer/diff/compared_pair.h"
#include "analyzer/diff/site_ids.h"
#include "analyzer/findings/core/process_description.h"
#include "analyzer/findings/core/rate_units.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/findings/leaks/leak_findings.h"
#include "analyzer/profile/run_profile.h"
#include "analyzer/profile/sequence_part.h"

namespace vramtrack {

ProcessFacts FactsOfTrace(const ProcessAnalysis& analysis) {
  const StepPlan& plan = analysis.plan();
  ProcessFacts facts;
  facts.path = analysis.trace().path();
  facts.process = DescribeProcess(analysis.trace(), analysis.ledger());
  facts.steps = DescribeSteps(analysis);
  facts.run = analysis.run();
  if (plan.has_windows()) facts.rate_scale = kRateBytes / static_cast<double>(plan.window_bytes);
  for (const SiteGroup& group : analysis.groups()) {
    const SiteKey& key = analysis.ledger().sites()[group.sites[0]].key;
    facts.reported.push_back(NamedSite(key.kind, key.device, group.frames));
  }
  return facts;
}

ComparedTrace::ComparedTrace(const Trace& trace, const AnalyzeOptions& options)
    : trace_(trace), own_windows_(options.window_bytes == 0), analysis_(trace, options) {
  facts_ = FactsOfTrace(analysis_);
  sites_ = CollectSites(&analysis_);
}

ProcessProfile ComparedTrace::Profile(const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*which,
                                      const StepWindow& window) {
  const auto rest = static_cast<uint32_t>(matches.size());  // sites that were too many
  match_of_site_.assign(analysis_.ledger().sites().size(), rest);
  for (uint32_t m = 0; m < rest; ++m) {
    for (const size_t i : matches[m].*which) {
      for (const uint32_t site : sites_[i].sites) match_of_site_[site] = m;
    }
  }
  RunProfile profile(match_of_site_, size_t{rest} + 1, window, trace_.framework_devices() != 0);
  LeakOrder order(LeakingSites(analysis_), analysis_.run().steps);
  const std::unique_ptr<Ledger> ledger = ReplayAgain(analysis_, {&profile, &order});
  profile.Finish();
  leaks_ = FindLeakSites(&analysis_, sites_, order);
  sequence_ = profile.sequence();
  return profile.Take();
}

void ComparedTrace::TellFindings(KnownFindings* known) {
  if (known == nullptr || !own_windows_ || !known->Wants(trace_.path())) return;
  known->Add(trace_.path(), FindInAnalysis(&analysis_));
}

std::vector<SequenceEvent> ComparedTrace::Part(uint64_t begin, uint64_t end) const {
  SequencePart part(match_of_site_, begin, end);
  ReplayAgain(analysis_, {&part});
  return part.events();
}

std::array<std::unique_ptr<ComparedTrace>, 2> MakeComparedTraces(const Trace& base, const Trace& next,
                                                                 AnalyzeOptions* options) {
  std::array<std::unique_ptr<ComparedTrace>, 2> runs;
  const auto make = [options](const Trace& trace) { return std::make_unique<ComparedTrace>(trace, *options); };
  DoBoth(
      options->threads, [&] { runs[0] = make(base); }, [&] { runs[1] = make(next); });
  const ReportSteps &old = runs[0]->facts().steps, &now = runs[1]->facts().steps;
  if (old.window_bytes == 0 || now.window_bytes == 0 || old.window_bytes == now.window_bytes) return runs;
  // The smaller ones: of large ones the run that allocates less would have too few.
  const bool base_is_larger = old.window_bytes > now.window_bytes;
  options->window_bytes = std::min(old.window_bytes, now.window_bytes);
  runs[base_is_larger ? 0 : 1] = make(base_is_larger ? base : next);
  return runs;
}

}  // namespace vramtrack
