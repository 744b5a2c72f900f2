// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/leak_findings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/rate_units.h"
#include "analyzer/findings/leaks/kept_findings.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {

void PinnedPoolGrowth::OnAllocate(const ReplayAllocation& allocated) {
  if (__builtin_expect(!IsPinnedByCalls(allocated.site.key.kind), 1)) return;
  const StreamEvent* event = ledger_->present_event();
  const Definitions& definitions = trace_.definitions();
  if (event == nullptr || allocated.site.key.stack != definitions.torch_pinned_pool()) return;
  ++by_stack_[definitions.stacks.Distinct(event->shape->ref)];
}

namespace {

// Adds to the explanation of a leak of segments for CUDA graphs what they are, and to that of PyTorch's pinned-memory
// pool why no line is named.
void AddPoolRemark(const PinnedPoolGrowth& growth, const SiteKey& key, StackSymbolizer* symbolizer, ReportSite* site) {
  if (key.kind == schema::GRAPH_POOL) {
    absl::StrAppend(&site->explanation,
                    "; these are segments of CUDA graphs' private memory pools, which the allocator cannot use for "
                    "anything else as long as the graphs are kept");
    return;
  }
  if (!symbolizer->IsPinnedPool(key.stack)) return;
  // Lines, by how often they made the pool grow.
  std::map<std::string, uint64_t> lines;
  uint64_t grown = 0;
  for (const auto& [stack, times] : growth.by_stack()) {
    grown += times;
    for (const ReportFrame& frame : symbolizer->Frames(stack)) {
      if (frame.language != Language::kPython || frame.installed || frame.origin != ReportFrame::Origin::kJob) continue;
      const std::string& file = frame.shown_file.empty() ? frame.file : frame.shown_file;
      lines[absl::StrCat(file, ":", frame.line, " in ", frame.function)] += times;
      break;
    }
  }
  absl::StrAppend(
      &site->explanation,
      "; which line keeps the blocks is not known, because PyTorch does not report the blocks of this pool, "
      "only the pool's requests to CUDA are seen");
  const auto most =
      std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == lines.end()) return;
  absl::StrAppend(&site->explanation, "; ", most->second, " of ", grown, " times the pool grew for ", most->first,
                  lines.size() > 1 ? absl::StrCat(", otherwise for ", lines.size() - 1, " other lines") : "");
}

std::vector<size_t> MembersOf(const LeakGroup& leak) {
  std::vector<size_t> members = leak.parts;
  members.push_back(leak.leader);
  std::sort(members.begin(), members.end());
  return members;
}

// Nearly all of a leak's bytes are of one category if it is this share of the rate.
constexpr double kNearlyAll = 0.9;

// Says what the objects are for where the call stack alone misleads: what a backward pass allocates is reported at the
// line of the forward pass. Only what call stacks prove is said.
void SayWhatTheyAre(const std::vector<size_t>& members, const ReportLeak& whole, const std::vector<ReportSite>& sites,
                    ReportSite* leader) {
  if (leader->level != Level::kFramework) return;
  std::map<std::string, double> rates;  // by category
  for (const size_t member : members) rates[sites[member].category] += sites[member].rate_bytes_per_step;
  const auto say = [&](Category category, const char* text) {
    const auto found = rates.find(CategoryName(category));
    if (found == rates.end() || found->second < kNearlyAll * whole.rate_bytes_per_step) return;
    leader->explanation = absl::StrCat(text, "; ", leader->explanation);
  };
  say(Category::kGradients, "the objects were allocated in the backward pass of this code (usually gradients)");
  say(Category::kParameters, "the objects are parameters or buffers of a model");
}

}  // namespace

LeakFindings::LeakFindings(ProcessAnalysis* analysis)
    : analysis_(*analysis), pool_(analysis->trace()), leaks_(FindLeaks(analysis)) {}

std::vector<SiteIndex> LeakFindings::SitesOf(const std::vector<size_t>& groups) const {
  std::vector<SiteIndex> sites;
  for (const size_t group : groups) {
    const std::vector<SiteIndex>& of = analysis_.groups()[group].sites;
    sites.insert(sites.end(), of.begin(), of.end());
  }
  return sites;
}

bool LeakFindings::IsGraphPool(size_t group) const {
  return analysis_.ledger().sites()[analysis_.groups()[group].sites[0]].key.kind == schema::GRAPH_POOL;
}

bool LeakFindings::IsWithinPools(size_t group, const std::vector<size_t>& others) const {
  return IsInGraphPools(analysis_.ledger().sites()[analysis_.groups()[group].sites[0]]) &&
         std::any_of(others.begin(), others.end(), [this](size_t other) { return IsGraphPool(other); });
}

// A leak of CUDA graphs has parts of all levels.
std::vector<SiteIndex> LeakFindings::WatchedSitesOf(const std::vector<size_t>& groups) const {
  const bool pools = std::any_of(groups.begin(), groups.end(), [this](size_t group) { return IsGraphPool(group); });
  std::vector<SiteIndex> sites = SitesOf(groups);
  const auto is_block = [this](SiteIndex site) {
    return LevelOf(analysis_.ledger().sites()[site].key.kind) == Level::kFramework;
  };
  if (!pools) return sites;
  if (std::any_of(sites.begin(), sites.end(), is_block)) {
    sites.erase(std::remove_if(sites.begin(), sites.end(), [&](SiteIndex site) { return !is_block(site); }),
                sites.end());
  } else {
    sites.erase(
        std::remove_if(sites.begin(), sites.end(),
                       [&](SiteIndex site) { return analysis_.ledger().sites()[site].key.kind != schema::GRAPH_POOL; }),
        sites.end());
  }
  return sites;
}

void LeakFindings::Prepare(Replay* detail) {
  for (const LeakGroup& leak : leaks_) {
    if (leak.parts.empty()) continue;
    watched_[leak.leader] = detail->counterfactual.Watch(WatchedSitesOf(MembersOf(leak)));
  }
  for (const SiteGroup& group : analysis_.groups()) {
    const SiteIndex first = group.sites[0];
    if (!IsLeak(analysis_.verdicts()[first].verdict)) continue;
    if (!analysis_.symbolizer().IsPinnedPool(analysis_.ledger().sites()[first].key.stack)) continue;
    detail->observers.push_back(&pool_);
    break;
  }
}

ReportLeak LeakFindings::Sum(const LeakGroup& leak, const std::vector<ReportSite>& sites) const {
  ReportLeak sum;
  const std::vector<size_t> all = MembersOf(leak);
  for (const size_t member : all) {
    if (IsWithinPools(member, all)) continue;
    const ReportSite& site = sites[member];
    sum.rate_bytes_per_step += site.rate_bytes_per_step;
    sum.rate_objects_per_step += site.rate_objects_per_step;
    sum.rate_ci_low += site.rate_ci_low;
    sum.rate_ci_high += site.rate_ci_high;
    sum.live_bytes += site.live_bytes;
    sum.bytes_at_peak += site.bytes_at_peak;
  }
  return sum;
}

void LeakFindings::Describe(const Replay& replay, ProcessFindings* findings) {
  std::vector<ReportSite>* sites = &findings->sites;
  for (size_t i = 0; i < analysis_.groups().size(); ++i) {
    const SiteIndex first = analysis_.groups()[i].sites[0];
    if (!IsLeak(analysis_.verdicts()[first].verdict)) continue;
    AddPoolRemark(pool_, analysis_.ledger().sites()[first].key, &analysis_.symbolizer(), &(*sites)[i]);
  }
  for (const LeakGroup& leak : leaks_) {
    ReportSite& leader = (*sites)[leak.leader];
    for (const size_t part : leak.parts) (*sites)[part].part_of = absl::StrCat(leak.leader);
    leader.parts = leak.parts.size();
    std::vector<size_t> within;
    for (const size_t part : leak.parts) {
      if (!IsWithinPools(part, MembersOf(leak))) continue;
      within.push_back(part);
      ReportSite& site = (*sites)[part];
      site.rate_bytes_per_step = site.rate_ci_low = site.rate_ci_high = 0;
    }
    leader.group = Sum(leak, *sites);
    if (leak.parts.empty()) {
      leader.group->peak_without = leader.peak_without_site;
    } else if (replay.made()) {
      leader.group->peak_without = replay.counterfactual.PeakWithout(watched_.at(leak.leader));
    }
    if (leak.call_frame) leader.blame_frame = *leak.call_frame;
    // What hardly matters by itself may do so with all that it keeps.
    if (leader.verdict == Verdict::kMinorLeak && IsMaterialTogether(leak, *leader.group)) {
      const SiteIndex first = analysis_.groups()[leak.leader].sites[0];
      leader.verdict = analysis_.verdicts()[first].replaced ? Verdict::kGrowingBuffer : Verdict::kLeak;
    }
    SayWhatTheyAre(MembersOf(leak), *leader.group, *sites, &leader);
    for (const size_t part : within) {
      absl::StrAppend(&(*sites)[part].explanation,
                      "; these bytes count with the segments of the graphs' pools that they lie in");
    }
  }
  DescribeKept(analysis_, sites);
  SetRateUnits(analysis_, sites);
}

bool LeakFindings::IsMaterialTogether(const LeakGroup& leak, const ReportLeak& whole) const {
  const SiteIndex first = analysis_.groups()[leak.leader].sites[0];
  const DeviceIndex device = analysis_.ledger().sites()[first].key.device;
  return IsMaterial({whole.rate_bytes_per_step, whole.rate_objects_per_step, {}, {}}, analysis_.options().horizon_steps,
                    analysis_.ledger().DeviceBytes(device));
}

}  // namespace vramtrack
