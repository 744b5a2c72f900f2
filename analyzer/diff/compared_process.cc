// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/compared_process.h"

#include <algorithm>
#include <utility>

#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/findings/core/process_description.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/job/site_id.h"
#include "analyzer/ledger/site_table.h"
#include "analyzer/profile/make_step_profile.h"
#include "analyzer/verdicts/facts.h"

namespace vramtrack {
ProcessFacts FactsOfTrace(const ProcessAnalysis& analysis) {
  ProcessFacts facts;
  facts.side = {{analysis.trace().path()},
                {DescribeProcess(analysis.trace(), analysis.ledger())},
                DescribeSteps(analysis),
                WhyIncomplete(analysis.trace(), analysis.ledger())};
  for (const SiteGroup& group : analysis.groups()) {
    const Site& site = analysis.ledger().sites()[group.sites[0]];
    facts.reported.push_back(SiteOutline(site.key.kind, IsSegmentSite(site), NumberOf(site.key.device), group.frames));
  }
  return facts;
}

ProcessFacts FactsOfSummary(const std::string& path, const ProcessFindings& findings) {
  ProcessFacts facts = {{{path}, {findings.process}, findings.steps, ""}, findings.sites};
  for (const ReportReason& reason : findings.reasons) {
    if (reason.id == "incomplete") facts.side.incomplete = findings.process.incomplete_why;
  }
  return facts;
}

ComparedProcess::ComparedProcess(const Trace& trace, const AnalyzeOptions& options)
    : analysis_(std::make_unique<ProcessAnalysis>(trace, options)),
      profile_(DescribeRun(analysis_.get())),
      own_windows_(options.window_bytes == 0) {
  facts_ = FactsOfTrace(*analysis_);
  ReadFrames(&profile_);
}

ComparedProcess::ComparedProcess(ProcessFacts facts, StepProfile profile)
    : facts_(std::move(facts)), profile_(std::move(profile)) {
  ReadFrames(&profile_);
  for (const ProfileDevice& device : profile_.devices) {
    steps_in_bin_ = std::max(steps_in_bin_, static_cast<uint32_t>(device.steps_in_bin));
  }
}

void ComparedProcess::FindCategory(size_t site) {
  if (has_trace()) profile_.sites[site].category = analysis_->Category(profile_.sites[site].sites[0]);
}

double ComparedProcess::rate_scale() const {
  return profile_.window_bytes == 0 ? 1 : kRateBytes / static_cast<double>(profile_.window_bytes);
}

MeasuredRun ComparedProcess::Measure(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                                     const ComparedProcess& other) {
  if (has_trace()) MeasureTrace(members, window, other);
  return Measured(profile_, members, window, rate_scale());
}

void ComparedProcess::MeasureTrace(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                                   const ComparedProcess& other) {
  rows_ = RowsOf(profile_, &members, analysis_->ledger().sites().size());
  profile_.blocks = window;
  const uint32_t bin = other.steps_in_bin();
  const bool fits = window.begin % bin == 0 && window.granule * window.per_unit % bin == 0;
  // A summary knows nothing of matches.
  ProfileMaker maker(analysis_.get(), other.has_trace() ? &members : nullptr, fits ? bin : 1, &profile_);
  if (!AddFindings(&maker)) {
    ProcessFindings none;
    Collect(analysis_.get(), {&maker}, &none);
  }
  sequence_ = maker.sequence();
}

bool ComparedProcess::AddFindings(Collector* extra) {
  if (!has_trace() || !own_windows_ || has_findings_) return false;
  KnownFindings* known = analysis_->options().known;
  const std::string& path = facts_.side.paths[0];
  if (known == nullptr || !known->Wants(path)) return false;
  known->Add(path, FindInAnalysis(analysis_.get(), extra));
  has_findings_ = true;
  return true;
}

std::vector<SequenceEvent> ComparedProcess::Part(uint64_t begin, uint64_t end) const {
  EventDigest part(rows_, begin, end);
  Replay replay;
  replay.observers = {&part};
  MakeReplay(Pass::kDivergence, analysis_.get(), &replay);
  return part.kept();
}

std::vector<ReportFrame> ComparedProcess::FramesOf(SiteIndex site) const {
  return analysis_->symbolizer().Frames(analysis_->ledger().sites()[site].key.stack);
}

}  // namespace vramtrack
