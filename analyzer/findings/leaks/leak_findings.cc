// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/leak_findings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/rate_units.h"
#include "analyzer/findings/leaks/kept_findings.h"
#include "analyzer/leaks/explanation.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/survivors.h"
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
  SurvivorSeries survivors;
  double below = 0, above = 0;  // the rates of growing buffers, their intervals reach
  StepSpan span{0, analysis_.run().steps};
  uint32_t lifetime = 0;
  const std::vector<size_t> all = MembersOf(leak);
  for (const size_t member : all) {
    if (IsWithinPools(member, all)) continue;
    const ReportSite& site = sites[member];
    sum.rate_bytes_per_step += site.rate_bytes_per_step;
    sum.rate_objects_per_step += site.rate_objects_per_step;
    sum.live_bytes += site.live_bytes;
    sum.bytes_at_peak += site.bytes_at_peak;
    for (const SiteIndex index : analysis_.groups()[member].sites) {
      const LeakEvidence& evidence = analysis_.verdicts()[index].evidence;
      if (!IsLeak(analysis_.verdicts()[index].verdict)) continue;
      if (evidence.buffer.trend != BufferTrend::kNone) {
        below += analysis_.verdicts()[index].rate_bytes_per_step - analysis_.verdicts()[index].rate_ci_low;
        above += analysis_.verdicts()[index].rate_ci_high - analysis_.verdicts()[index].rate_bytes_per_step;
        continue;
      }
      survivors = SumOf(survivors, SurvivorsIn(analysis_.histories().history(index), {0, analysis_.run().steps}));
      span.begin = std::max(span.begin, evidence.leaking.begin);
      span.end = std::min(span.end, evidence.leaking.end);
      lifetime = std::max(lifetime, evidence.max_lifetime_steps);
    }
  }
  const bool onset = analysis_.verdicts()[analysis_.groups()[leak.leader].sites[0]].onset_step.has_value();
  const Rate rate = EstimateRate(survivors, {span, onset}, lifetime);
  // About the sum of what the parts say of themselves, so that they add up.
  sum.rate_ci_low = sum.rate_bytes_per_step - (rate.bytes_per_step - rate.bytes_interval.low) - below;
  sum.rate_ci_high = sum.rate_bytes_per_step + (rate.bytes_interval.high - rate.bytes_per_step) + above;
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
      leader.group->rate_ci_low = leader.rate_ci_low;
      leader.group->rate_ci_high = leader.rate_ci_high;
      leader.group->peak_without = leader.peak_without_site;
    } else if (replay.made()) {
      leader.group->peak_without = replay.counterfactual.PeakWithout(watched_.at(leak.leader));
    }
    if (leak.call_frame) leader.blame_frame = *leak.call_frame;
    // What hardly matters by itself may do so with all that it keeps.
    if (leader.verdict == Verdict::kMinorLeak && IsMaterialTogether(leak, *leader.group)) {
      const SiteIndex first = analysis_.groups()[leak.leader].sites[0];
      const bool replaced = analysis_.verdicts()[first].evidence.buffer.trend != BufferTrend::kNone;
      leader.verdict = replaced ? Verdict::kGrowingBuffer : Verdict::kLeak;
    }
    std::vector<size_t> members = leak.parts;
    members.insert(members.begin(), leak.leader);
    DescribeTogether(members, *leader.group, &leader);
    SayWhatTheyAre(members, *leader.group, *sites, &leader);
    for (const size_t part : leak.parts) {
      const ReportSite& site = (*sites)[part];
      DescribeTogether({part}, {site.rate_bytes_per_step, 0, 0, site.rate_objects_per_step, 0, 0, 0}, &(*sites)[part]);
    }
    for (const size_t part : within) {
      absl::StrAppend(&(*sites)[part].explanation,
                      "; these bytes count with the segments of the graphs' pools that they lie in");
    }
  }
  DescribeKept(analysis_, sites);
  SetRateUnits(analysis_, sites);
}

bool LeakFindings::IsMaterialTogether(const LeakGroup& leak, const ReportLeak& whole) const {
  RunShape run = analysis_.run();
  const SiteIndex first = analysis_.groups()[leak.leader].sites[0];
  const DeviceIndex device = analysis_.ledger().sites()[first].key.device;
  run.device_total_bytes = DeviceTotalBytes(analysis_.trace(), analysis_.ledger(), device);
  return IsMaterial({whole.rate_bytes_per_step, whole.rate_objects_per_step, {}, {}}, run);
}

void LeakFindings::DescribeTogether(const std::vector<size_t>& members, const ReportLeak& whole,
                                    ReportSite* site) const {
  const std::vector<SiteIndex> sites = SitesOf(members);
  if (sites.size() < 2) return;  // what its verdict says of it is all there is
  const SiteIndex first = analysis_.groups()[members[0]].sites[0];
  LeakVerdict verdict = analysis_.verdicts()[first];
  SiteHistory history = analysis_.histories().history(first);
  if (verdict.evidence.joint) {
    for (const SiteIndex other : analysis_.groups()[members[0]].sites) {
      if (other == first) continue;
      const SiteHistory whole = Merged(history, analysis_.histories().history(other));
      history.cohorts = whole.cohorts;
    }
  }
  for (const SiteIndex other : sites) {
    if (other == first) continue;
    const LeakEvidence& evidence = analysis_.verdicts()[other].evidence;
    const SiteHistory more = analysis_.histories().history(other);
    verdict.evidence.period.bytes_repeat &=
        evidence.period.bytes_repeat && evidence.period.steps == verdict.evidence.period.steps;
    verdict.evidence.max_lifetime_steps = std::max(verdict.evidence.max_lifetime_steps, evidence.max_lifetime_steps);
    if (IsLeak(analysis_.verdicts()[other].verdict) && !evidence.joint) {
      verdict.evidence.buffer.from_bytes += evidence.buffer.from_bytes;
      verdict.evidence.buffer.to_bytes += evidence.buffer.to_bytes;
    }
    history.died_objects += more.died_objects;
    history.max_setup_lifetime_steps = std::max(history.max_setup_lifetime_steps, more.max_setup_lifetime_steps);
  }
  verdict.rate_bytes_per_step = whole.rate_bytes_per_step;
  verdict.rate_objects_per_step = whole.rate_objects_per_step;
  if (verdict.verdict == Verdict::kMinorLeak && site->verdict == Verdict::kLeak) verdict.verdict = Verdict::kLeak;
  if (verdict.verdict == Verdict::kMinorLeak && site->verdict == Verdict::kGrowingBuffer) {
    verdict.verdict = Verdict::kGrowingBuffer;
  }
  site->explanation = Explain(verdict, history, analysis_.run(), {}, members.size());
  const DeviceIndex device = analysis_.ledger().sites()[first].key.device;
  const auto framework = analysis_.frameworks().find(device);
  if (site->level == Level::kFramework && framework != analysis_.frameworks().end()) {
    AddDriverEvidence(framework->second, analysis_.plan().window_bytes, site);
  }
  AddPoolRemark(pool_, analysis_.ledger().sites()[first].key, &analysis_.symbolizer(), site);
}

}  // namespace vramtrack
