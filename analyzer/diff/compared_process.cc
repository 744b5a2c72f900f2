// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/compared_process.h"

#include <algorithm>
#include <utility>

#include "analyzer/diff/site_ids.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/findings/core/process_description.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/ledger/site_table.h"
#include "analyzer/profile/make_step_profile.h"
#include "analyzer/verdicts/facts.h"

namespace vramtrack {
ProcessFacts FactsOfTrace(const ProcessAnalysis& analysis) {
  ProcessFacts facts;
  facts.path = analysis.trace().path();
  facts.process = DescribeProcess(analysis.trace(), analysis.ledger());
  facts.steps = DescribeSteps(analysis);
  facts.incomplete = WhyIncomplete(analysis.trace(), analysis.ledger());
  for (const SiteGroup& group : analysis.groups()) {
    const Site& site = analysis.ledger().sites()[group.sites[0]];
    facts.reported.push_back(NamedSite(site.key.kind, IsSegmentSite(site), NumberOf(site.key.device), group.frames));
  }
  return facts;
}

ProcessFacts FactsOfSummary(const std::string& path, const ProcessFindings& findings) {
  ProcessFacts facts;
  facts.path = path;
  facts.process = findings.process;
  facts.steps = findings.steps;
  for (const ReportReason& reason : findings.reasons) {
    if (reason.id == "incomplete") facts.incomplete = findings.process.incomplete_why;
  }
  for (const ReportSite& site : findings.sites) {
    ReportSite named;
    named.level = site.level;
    named.kind = site.kind;
    named.device = site.device;
    named.frames = site.frames;
    facts.reported.push_back(std::move(named));
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
  if (WantsFindings()) {
    analysis_->options().known->Add(facts_.path, FindInAnalysis(analysis_.get(), &maker));
    has_findings_ = true;
  } else {
    ProcessFindings none;
    Collect(analysis_.get(), {&maker}, &none);
  }
  sequence_ = maker.sequence();
}

bool ComparedProcess::WantsFindings() const {
  if (!has_trace() || !own_windows_ || has_findings_) return false;
  const KnownFindings* known = analysis_->options().known;
  return known != nullptr && known->Wants(facts_.path);
}

void ComparedProcess::AddFindings() {
  if (!WantsFindings()) return;
  analysis_->options().known->Add(facts_.path, FindInAnalysis(analysis_.get()));
  has_findings_ = true;
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
