// SPDX-License-Identifier: Apache-2.0
//
// Describes the composition of live bytes: over the run, within the step of the peak, and at the peak by call stack.
#include "analyzer/findings/peaks/peak_collectors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/category.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/composition_timeline.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxLeaks = 4;  // of CompositionTimeline::kMaxGroups, so that others have room
// A node that holds less than this share of its peak is narrower than a pixel.
constexpr uint64_t kSmallestShare = 5000;

uint64_t BytesAtPeak(const ProcessAnalysis& analysis, size_t group) {
  uint64_t bytes = 0;
  for (const SiteIndex site : analysis.groups()[group].sites) bytes += analysis.ledger().sites()[site].bytes_at_peak;
  return bytes;
}

uint32_t ScopeOf(const ProcessAnalysis& analysis, size_t group) {
  return analysis.ledger().sites()[analysis.groups()[group].sites[0]].scope;
}

ReportComposition DescribeBins(const CategoryRules& rules, const std::vector<CompositionTimeline::Bin>& bins,
                               const std::vector<size_t>& groups) {
  ReportComposition described;
  for (size_t c = 0; c < rules.count(); ++c) {
    std::vector<uint64_t> bytes;
    for (const CompositionTimeline::Bin& bin : bins) bytes.push_back(bin.categories[c]);
    if (std::all_of(bytes.begin(), bytes.end(), [](uint64_t count) { return count == 0; })) continue;
    described.categories.emplace_back(rules.Name(static_cast<Category>(c)), std::move(bytes));
  }
  for (const CompositionTimeline::Bin& bin : bins) described.other_sites.push_back(bin.live);
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<uint64_t> bytes;
    for (const CompositionTimeline::Bin& bin : bins) bytes.push_back(bin.groups[g]);
    for (size_t i = 0; i < bytes.size(); ++i) described.other_sites[i] -= bytes[i];
    described.sites.emplace_back(ListedSite(groups[g]), std::move(bytes));
  }
  return described;
}

IndexedVector<SiteIndex, Category> Categories(const SitePurposes& purposes) {
  IndexedVector<SiteIndex, Category> categories;
  for (const Purpose& purpose : purposes) categories.push_back(purpose.category);
  return categories;
}

// One site's way into the tree, from the outermost frame.
class StackTree {
 public:
  explicit StackTree(ReportPeakStacks* stacks) : stacks_(*stacks) {}

  void Add(ReportSiteIndex site, const std::vector<ReportFrame>& frames, uint64_t bytes) {
    uint64_t node = kRoot;
    for (size_t calls = frames.size(); calls-- > 0;) {
      const ReportFrame& frame = frames[calls];
      std::string name = absl::StrCat(frame.function, "|", frame.file, "|", frame.line, "|", frame.module);
      if (frame.line == 0) absl::StrAppend(&name, "|", frame.offset);
      const auto [found, is_new] = nodes_.try_emplace({node, std::move(name)}, stacks_.nodes.size());
      if (is_new) {
        stacks_.nodes.push_back({node == kRoot ? std::nullopt : std::optional<uint64_t>(node), site, calls, 0, 0});
      }
      node = found->second;
      stacks_.nodes[node].bytes += bytes;
      ++stacks_.nodes[node].sites;
    }
  }

 private:
  static constexpr uint64_t kRoot = UINT64_MAX;
  ReportPeakStacks& stacks_;
  std::map<std::pair<uint64_t, std::string>, uint64_t> nodes_;
};

// Parents come first, and hold no less than what is below them.
void DropSmall(uint64_t smallest, std::vector<ReportPeakStacks::Node>* nodes) {
  std::vector<uint64_t> moved(nodes->size());
  size_t kept = 0;
  for (size_t i = 0; i < nodes->size(); ++i) {
    ReportPeakStacks::Node node = std::move((*nodes)[i]);
    if (node.bytes < smallest) continue;
    if (node.parent) node.parent = moved[*node.parent];
    moved[i] = kept;
    (*nodes)[kept++] = std::move(node);
  }
  nodes->resize(kept);
}

// Adds the composition of live bytes over the run, in the steps, and within the step of the peak.
class TimelineFindings final : public Collector {
 public:
  TimelineFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes)
      : analysis_(analysis),
        followed_(GroupsToFollow(analysis)),
        composition_(analysis.ledger(), Categories(purposes), analysis.options().categories.count(), SitesToFollow(),
                     analysis.timeline()) {}

  const char* name() const override { return "timeline"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&composition_); }

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    for (const Scope& scope : analysis_.ledger().scopes()) {
      if (!IsOnTimeline(scope)) continue;
      ReportTimeline timeline;
      timeline.device = NumberOf(scope.device);
      AddLevels(scope, &timeline);
      AddCategories(scope.index, &timeline);
      AddComposition(scope.index, &timeline);
      AddCurve(scope.index, &timeline);
      findings->timeline.push_back(std::move(timeline));
    }
    // The host comes last.
    std::sort(findings->timeline.begin(), findings->timeline.end(), [](const auto& a, const auto& b) {
      return a.device.value_or(UINT32_MAX) < b.device.value_or(UINT32_MAX);
    });
  }

 private:
  // By scope, the groups of the analysis that are shown separately: leaks, and the groups with the most bytes at the
  // peak.
  using Groups = std::map<uint32_t, std::vector<size_t>>;

  static Groups GroupsToFollow(const ProcessAnalysis& analysis) {
    std::vector<size_t> by_peak(analysis.groups().size());
    std::iota(by_peak.begin(), by_peak.end(), 0);
    std::vector<uint64_t> bytes;
    for (const size_t group : by_peak) bytes.push_back(BytesAtPeak(analysis, group));
    std::stable_sort(by_peak.begin(), by_peak.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
    std::map<uint32_t, std::vector<size_t>> followed;
    const auto follow = [&](size_t group, size_t most) {
      const uint32_t scope = ScopeOf(analysis, group);
      if (scope == Site::kNoScope || !IsOnTimeline(analysis.ledger().scopes()[scope])) return;
      std::vector<size_t>& of_scope = followed[scope];
      if (of_scope.size() >= most || std::find(of_scope.begin(), of_scope.end(), group) != of_scope.end()) return;
      of_scope.push_back(group);
    };
    for (size_t group = 0; group < analysis.groups().size(); ++group) {
      if (IsLeak(analysis.verdicts()[analysis.groups()[group].sites[0]].verdict)) follow(group, kMaxLeaks);
    }
    for (const size_t group : by_peak) {
      if (bytes[group] > 0) follow(group, CompositionTimeline::kMaxGroups);
    }
    return followed;
  }

  std::map<uint32_t, std::vector<std::vector<SiteIndex>>> SitesToFollow() const {
    std::map<uint32_t, std::vector<std::vector<SiteIndex>>> sites;
    for (const auto& [scope, groups] : followed_) {
      for (const size_t group : groups) sites[scope].push_back(analysis_.groups()[group].sites);
    }
    return sites;
  }

  // Returns the job's own number of a step.
  double PositionOf(uint32_t step) const {
    return static_cast<double>(ReportedStep(analysis_.run(), step).value_or(step));
  }

  void AddLevels(const Scope& scope, ReportTimeline* timeline) const {
    const LevelTimeline& levels = analysis_.timeline();
    timeline->unit = levels.in_steps() ? PositionUnit::kSteps : PositionUnit::kSeconds;
    uint64_t position = 0;
    for (const LevelTimeline::Bin& bin : levels.bins(scope)) {
      timeline->position.push_back(levels.in_steps()
                                       ? PositionOf(static_cast<uint32_t>(position))
                                       : static_cast<double>(position) / analysis_.trace().clock().ticks_per_second());
      position += levels.bin_width();
      ReportTimeline::Series* const series[] = {&timeline->device_used, &timeline->reserved, &timeline->live};
      for (size_t i = 0; i < LevelTimeline::kValues; ++i) {
        series[i]->low.push_back(bin.low[i]);
        series[i]->high.push_back(bin.high[i]);
      }
    }
  }

  void AddCategories(uint32_t scope, ReportTimeline* timeline) const {
    const CategoryRules& rules = analysis_.options().categories;
    for (size_t c = 0; c < rules.count(); ++c) {
      const std::vector<CompositionTimeline::Extent> bins = composition_.Extents(scope, static_cast<Category>(c));
      if (bins.empty()) continue;
      ReportTimeline::Series series;
      for (const CompositionTimeline::Extent& bin : bins) {
        series.low.push_back(bin.low);
        series.high.push_back(bin.high);
      }
      timeline->categories.emplace_back(rules.Name(static_cast<Category>(c)), std::move(series));
    }
  }

  void AddComposition(uint32_t scope, ReportTimeline* timeline) const {
    const auto groups = followed_.find(scope);
    const std::vector<size_t> of_scope = groups == followed_.end() ? std::vector<size_t>() : groups->second;
    const CategoryRules& rules = analysis_.options().categories;
    timeline->at_high = DescribeBins(rules, composition_.Bins(scope), of_scope);
    const CompositionTimeline::StepBins bins = composition_.BinsOfPeakStep(scope);
    if (bins.bins.empty()) return;
    ReportPeakStep& step = timeline->peak_step.emplace();
    step.step = ReportedStep(analysis_.run(), analysis_.ledger().scopes()[scope].peak_moment.step);
    step.event = bins.events;
    for (const uint64_t ticks : bins.ticks) step.seconds.push_back(analysis_.trace().clock().Seconds(ticks));
    for (const CompositionTimeline::Bin& bin : bins.bins) step.live.push_back(bin.live);
    step.consists_of = DescribeBins(rules, bins.bins, of_scope);
  }

  void AddCurve(uint32_t scope, ReportTimeline* timeline) const {
    const StepCurve* curve = composition_.CurveOf(scope);
    const std::vector<StepCurve::Row> rows = curve == nullptr ? std::vector<StepCurve::Row>() : curve->Rows();
    if (rows.empty()) return;
    ReportWithinSteps& within = timeline->within_steps.emplace();
    within.events = curve->events_per_row();
    for (const StepCurve::Row& row : rows) {
      const double share = static_cast<double>(row.event) / static_cast<double>(curve->EventsOf(row.step));
      // Four digits are less than a pixel.
      within.position.push_back(PositionOf(row.step) + std::floor(share * 1e4) / 1e4);
      within.low.push_back(row.low);
      within.high.push_back(row.high);
    }
  }

  const ProcessAnalysis& analysis_;
  const Groups followed_;
  CompositionTimeline composition_;
};

}  // namespace

std::vector<ReportPeakStacks> DescribePeakStacks(const ProcessAnalysis& analysis,
                                                 const std::vector<ReportSite>& sites) {
  std::vector<ReportPeakStacks> all;
  const std::vector<Scope>& scopes = analysis.ledger().scopes();
  for (uint32_t i = 0; i < scopes.size(); ++i) {
    if (!IsOnTimeline(scopes[i]) || scopes[i].peak == 0) continue;
    ReportPeakStacks stacks;
    stacks.device = NumberOf(scopes[i].device);
    stacks.live = stacks.other_bytes = scopes[i].peak;
    StackTree tree(&stacks);
    for (size_t group = 0; group < sites.size(); ++group) {
      const ReportSite& site = sites[group];
      if (ScopeOf(analysis, group) != i || site.bytes_at_peak == 0 || site.frames.empty()) continue;
      tree.Add(ListedSite(group), site.frames, site.bytes_at_peak);
      stacks.other_bytes -= site.bytes_at_peak;
    }
    DropSmall(stacks.live / kSmallestShare, &stacks.nodes);
    all.push_back(std::move(stacks));
  }
  return all;
}

std::unique_ptr<Collector> MakeTimelineFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes) {
  return std::make_unique<TimelineFindings>(analysis, purposes);
}

}  // namespace vramtrack
