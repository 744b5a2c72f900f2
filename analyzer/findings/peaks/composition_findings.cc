// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/peaks/composition_findings.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/core/device_findings.h"

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

// `bins` is a range of things of which `bin_of` gives the CompositionTimeline::Bin.
template <typename Bins, typename BinOf>
ReportComposition DescribeBins(const CategoryRules& rules, const Bins& bins, const std::vector<size_t>& groups,
                               BinOf bin_of) {
  ReportComposition described;
  for (size_t c = 0; c < rules.count(); ++c) {
    std::vector<uint64_t> bytes;
    for (const auto& one : bins) bytes.push_back(bin_of(one).categories[c]);
    if (std::all_of(bytes.begin(), bytes.end(), [](uint64_t count) { return count == 0; })) continue;
    described.categories.emplace_back(rules.Name(static_cast<Category>(c)), std::move(bytes));
  }
  for (const auto& one : bins) described.other_sites.push_back(bin_of(one).live);
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<uint64_t> bytes;
    for (const auto& one : bins) bytes.push_back(bin_of(one).groups[g]);
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

}  // namespace

TimelineFindings::Groups TimelineFindings::GroupsToFollow(const ProcessAnalysis& analysis) {
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

std::map<uint32_t, std::vector<std::vector<SiteIndex>>> TimelineFindings::SitesToFollow() const {
  std::map<uint32_t, std::vector<std::vector<SiteIndex>>> sites;
  for (const auto& [scope, groups] : followed_) {
    for (const size_t group : groups) sites[scope].push_back(analysis_.groups()[group].sites);
  }
  return sites;
}

TimelineFindings::TimelineFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes)
    : analysis_(analysis),
      followed_(GroupsToFollow(analysis)),
      composition_(analysis.ledger(), Categories(purposes), analysis.options().categories.count(), SitesToFollow(),
                   analysis.timeline()) {}

void TimelineFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  findings->timeline = DescribeTimeline(analysis_);
  const std::vector<Scope>& scopes = analysis_.ledger().scopes();
  for (ReportTimeline& timeline : findings->timeline) {
    for (uint32_t i = 0; i < scopes.size(); ++i) {
      if (!IsOnTimeline(scopes[i]) || NumberOf(scopes[i].device) != timeline.device) continue;
      AddCategories(i, &timeline);
      AddComposition(i, &timeline);
      AddCurve(i, &timeline);
    }
  }
}

void TimelineFindings::AddCategories(uint32_t scope, ReportTimeline* timeline) const {
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

void TimelineFindings::AddComposition(uint32_t scope, ReportTimeline* timeline) const {
  const auto groups = followed_.find(scope);
  const std::vector<size_t> of_scope = groups == followed_.end() ? std::vector<size_t>() : groups->second;
  timeline->at_high = DescribeBins(
      analysis_.options().categories, composition_.Bins(scope), of_scope,
      [](const CompositionTimeline::Bin& bin) -> const auto& { return bin; });
  const std::vector<CompositionTimeline::StepBin> bins = composition_.StepBins(scope);
  if (bins.empty()) return;
  ReportPeakStep& step = timeline->peak_step.emplace();
  step.step = ReportedStep(analysis_.run(), analysis_.ledger().scopes()[scope].peak_moment.step);
  for (const CompositionTimeline::StepBin& bin : bins) {
    step.event.push_back(bin.event);
    step.seconds.push_back(analysis_.trace().clock().Seconds(bin.ticks));
    step.live.push_back(bin.bin.live);
  }
  step.consists_of = DescribeBins(
      analysis_.options().categories, bins, of_scope,
      [](const CompositionTimeline::StepBin& bin) -> const auto& { return bin.bin; });
}

void TimelineFindings::AddCurve(uint32_t scope, ReportTimeline* timeline) const {
  const StepCurve* curve = composition_.CurveOf(scope);
  const std::vector<StepCurve::Row> rows = curve == nullptr ? std::vector<StepCurve::Row>() : curve->Rows();
  if (rows.empty()) return;
  ReportWithinSteps& within = timeline->within_steps.emplace();
  within.events = curve->events_per_row();
  for (const StepCurve::Row& row : rows) {
    const double share = static_cast<double>(row.event) / static_cast<double>(curve->EventsOf(row.step));
    // Four digits are less than a pixel.
    within.position.push_back(static_cast<double>(ReportedStep(analysis_.run(), row.step).value_or(row.step)) +
                              std::floor(share * 1e4) / 1e4);
    within.low.push_back(row.low);
    within.high.push_back(row.high);
  }
}

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

}  // namespace vramtrack
