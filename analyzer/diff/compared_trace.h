// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_COMPARED_TRACE_H_
#define ANALYZER_DIFF_COMPARED_TRACE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/diff/compared_process.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"

namespace vramtrack {

ProcessFacts FactsOfTrace(const ProcessAnalysis& analysis);

// A process whose trace is there: a replay tells what it did in any steps. Thread-compatible; the trace and the options
// must outlive it.
class ComparedTrace : public ComparedProcess, private EventSource {
 public:
  ComparedTrace(const Trace& trace, const AnalyzeOptions& options);

  std::string Category(size_t site) override { return analysis_.Category(sites_[site].sites[0]); }
  ProcessProfile Profile(const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*which,
                         const StepWindow& window) override;
  // Adds what a report says of the process to what is known, if somebody wants it.
  void TellFindings(KnownFindings* known);
  // The order within the past of a trace of bounded size is not known.
  EventSource* events() override { return trace_.past() == nullptr ? this : nullptr; }

 private:
  const EventSequence& sequence() const override { return sequence_; }
  std::vector<SequenceEvent> Part(uint64_t begin, uint64_t end) const override;
  std::vector<ReportFrame> FramesOf(uint32_t site) override {
    return analysis_.symbolizer().Frames(analysis_.ledger().sites()[site].key.stack);
  }

  const Trace& trace_;
  const bool own_windows_;  // not those of the other run
  ProcessAnalysis analysis_;
  // Made by Profile.
  std::vector<uint32_t> match_of_site_;  // of the ledger
  EventSequence sequence_;
};

// The two, base first. Where windows stand for the steps of both, they are of the same size. `options` must outlive
// them and may be changed here.
std::array<std::unique_ptr<ComparedTrace>, 2> MakeComparedTraces(const Trace& base, const Trace& next,
                                                                 AnalyzeOptions* options);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_TRACE_H_
