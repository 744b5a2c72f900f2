// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/site_findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/activity_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/peaks/nvtx_names.h"
#include "analyzer/verdicts/explanation.h"

namespace vramtrack {
namespace {

std::string ExplainGroup(const ProcessAnalysis& analysis, const SiteGroup& group) {
  const SiteIndex first = group.sites[0];
  const Verdict verdict = analysis.verdicts()[first].verdict;
  const LineVerdict* line = analysis.LineOf(first);
  if (line != nullptr && (IsLeak(verdict) || verdict == Verdict::kInsufficientEvidence)) {
    return Explain(*line, analysis.run(), analysis.options().horizon_steps);
  }
  return ExplainClean(verdict, analysis.histories().history(first), analysis.run());
}

ReportSite DescribeGroup(ProcessAnalysis& analysis, const SiteGroup& group) {
  const Ledger& ledger = analysis.ledger();
  const SiteVerdicts& verdicts = analysis.verdicts();
  const Site& first = ledger.sites()[group.sites[0]];
  const SiteVerdict& verdict = verdicts[group.sites[0]];
  const Level level = LevelOf(first);
  ReportSite site;
  site.level = level;
  site.kind = KindName(first.key.kind);
  site.owner = analysis.symbolizer().Owner(first.key.stack);
  site.category = analysis.Category(group.sites[0]);
  site.verdict = verdict.verdict;
  site.grade = level == Level::kHandle ? "" : NameOf(level);
  site.explanation = ExplainGroup(analysis, group);
  if (analysis.IsUnseen(first)) AddWhoSawIt(&site);
  const auto framework = analysis.frameworks().find(first.key.device);
  if (level == Level::kFramework && IsLeak(verdict.verdict) && framework != analysis.frameworks().end()) {
    AddDriverEvidence(framework->second, analysis.plan().window_bytes, &site);
  }
  site.device = NumberOf(first.key.device);
  if (verdict.onset_step) site.onset_step = static_cast<int64_t>(analysis.run().NumberOf(*verdict.onset_step));
  if (const LineVerdict* line = analysis.LineOf(group.sites[0])) {
    if (line->judgement.decisive().any) site.odds = std::min(1e9, std::exp(line->judgement.log_odds()));
    if (verdict.verdict == Verdict::kInsufficientEvidence) site.reason = ReasonId(*line);
  }
  site.frames = group.frames;
  const RunPhase* phase = analysis.PhaseOf(group.sites[0]);
  site.step_name = phase != nullptr ? analysis.plan().phases[phase->plan].name : analysis.plan().name;
  for (const SiteIndex index : group.sites) {
    const Site& one = ledger.sites()[index];
    site.allocations += one.allocations;
    site.frees += one.frees;
    site.bytes_allocated += one.bytes_allocated;
    site.live_objects += one.live_objects;
    site.live_bytes += one.live_bytes;
    site.bytes_at_peak += one.bytes_at_peak;
    site.rate_bytes_per_step += verdicts[index].rate_bytes_per_step;
    site.rate_objects_per_step += verdicts[index].rate_objects_per_step;
    site.rate_ci_low += verdicts[index].rate_ci_low;
    site.rate_ci_high += verdicts[index].rate_ci_high;
  }
  return site;
}

// Of all sites, reported or not. Sites in one group are one to the reader.
void CountVerdicts(const ProcessAnalysis& analysis, ProcessFindings* findings) {
  for (const std::vector<SiteGroup>* groups : {&analysis.groups(), &analysis.other_groups()}) {
    for (const SiteGroup& group : *groups) {
      ++findings->verdict_counts[NameOf(analysis.verdicts()[group.sites[0]].verdict)];
    }
  }
}

}  // namespace
namespace {

class SiteFindings final : public Collector {
 public:
  explicit SiteFindings(ProcessAnalysis* analysis) : analysis_(*analysis) {}

  const char* name() const override { return "sites"; }

  void Prepare(Replay* detail) override {
    for (const SiteGroup& group : analysis_.groups()) watched_.push_back(detail->counterfactual.Watch(group.sites));
  }

  void Describe(const Replay& replay, ProcessFindings* findings) override {
    const std::vector<SiteGroup>& groups = analysis_.groups();
    for (size_t i = 0; i < groups.size(); ++i) {
      ReportSite site = DescribeGroup(analysis_, groups[i]);
      if (replay.made()) site.peak_without_site = replay.counterfactual.PeakWithout(watched_[i]);
      if (IsLeak(analysis_.verdicts()[groups[i].sites[0]].verdict))
        site.blame_frame = analysis_.blame().Blame(groups[i].frames);
      site.own_frame = OwnFrame(site.frames);
      if (analysis_.options().stacks == StackDetail::kRaw) {
        site.raw_frames = analysis_.raw().Frames(analysis_.ledger().sites()[groups[i].sites[0]].key.stack);
      }
      findings->sites.push_back(std::move(site));
    }
    CountVerdicts(analysis_, findings);
  }

 private:
  ProcessAnalysis& analysis_;
  std::vector<size_t> watched_;  // indexed by group of the analysis
};

}  // namespace

std::unique_ptr<Collector> MakeSiteFindings(ProcessAnalysis* analysis) {
  return std::make_unique<SiteFindings>(analysis);
}

namespace {

class RangeFindings final : public Collector {
 public:
  explicit RangeFindings(ProcessAnalysis* analysis)
      : analysis_(*analysis), ranges_(analysis->trace()), names_(analysis->trace()) {}

  const char* name() const override { return "NVTX ranges"; }
  void Prepare(Replay* detail) override { detail->observers.insert(detail->observers.end(), {&ranges_, &names_}); }

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    // Below this, the site is not of one range.
    constexpr double kLeastShare = 0.5;
    for (size_t i = 0; i < findings->sites.size(); ++i) {
      const std::vector<SiteIndex>& sites = analysis_.groups()[i].sites;
      const std::optional<MemoryNames::Name> name = names_.Of(sites);
      if (name && name->share >= kLeastShare) findings->sites[i].memory_name = {name->text, name->share};
      const std::optional<NvtxRanges::Range> range = ranges_.Of(sites);
      if (!range || range->share < kLeastShare) continue;
      findings->sites[i].nvtx_range = {range->path, range->share, PlaceOf(range->opened)};
    }
  }

 private:
  // Returns the line of the user's code from which a range was opened; empty if it is not known, or one of several.
  std::string PlaceOf(const std::vector<StackIndex>& stacks) const {
    std::string place;
    for (const StackIndex stack : stacks) {
      const std::vector<ReportFrame>& frames = analysis_.shown().Frames(stack);
      const std::optional<size_t> own = OwnFrame(frames);
      if (!own) return "";
      const std::string here = absl::StrCat(FrameLocation(frames[*own]), FunctionBehindLocation(frames[*own]));
      if (!place.empty() && here != place) return "";
      place = here;
    }
    return place;
  }

  ProcessAnalysis& analysis_;
  NvtxRanges ranges_;
  MemoryNames names_;
};

}  // namespace

std::unique_ptr<Collector> MakeRangeFindings(ProcessAnalysis* analysis) {
  return std::make_unique<RangeFindings>(analysis);
}

}  // namespace vramtrack
