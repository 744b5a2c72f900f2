// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/leak_findings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/category.h"
#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/leaks/kept_findings.h"
#include "analyzer/findings/leaks/leak_groups.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"
#include "analyzer/model/whole_leak.h"

namespace vramtrack {
namespace {

// Counts how often PyTorch's pinned-memory pool grew, by the code that made it grow. The pool is one site.
// Thread-compatible.
class PinnedPoolGrowth final : public ReplayObserver {
 public:
  // `trace` must outlive it.
  explicit PinnedPoolGrowth(const Trace& trace) : trace_(trace) {}

  const std::map<StackIndex, uint64_t>& by_stack() const { return by_stack_; }

  unsigned frequent_calls() const override { return kAllocations; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (__builtin_expect(!IsPinnedByCalls(allocated.site.key.kind), 1)) return;
    const StreamEvent* event = ledger_->present_event();
    const Definitions& definitions = trace_.definitions();
    if (event == nullptr || allocated.site.key.stack != definitions.torch_pinned_pool()) return;
    ++by_stack_[definitions.stacks.Distinct(event->shape->ref)];
  }

 private:
  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::map<StackIndex, uint64_t> by_stack_;
};

// Adds to the explanation of a leak of segments for CUDA graphs what they are, and to that of PyTorch's pinned-memory
// pool why no line is named.
void AddPoolRemark(const PinnedPoolGrowth& growth, const SiteKey& key, StackSymbolizer* symbolizer, ReportSite* site) {
  if (IsGraphPool(key.kind)) {
    absl::StrAppend(&site->explanation,
                    "; these are segments of CUDA graphs' private memory pools, which the allocator cannot use for "
                    "anything else as long as the graphs are kept");
    return;
  }
  if (!symbolizer->IsPinnedPool(key.stack)) return;
  // Lines, by how often they made the pool grow, each with a stack that has it.
  struct Line {
    uint64_t times = 0;
    StackIndex stack;
  };
  std::map<std::string, Line> lines;
  uint64_t grown = 0;
  for (const auto& [stack, times] : growth.by_stack()) {
    grown += times;
    for (const ReportFrame& frame : symbolizer->Frames(stack)) {
      if (frame.language != Language::kPython || frame.installed || frame.origin != ReportFrame::Origin::kJob) continue;
      const std::string& file = frame.shown_file.empty() ? frame.file : frame.shown_file;
      Line& line = lines[absl::StrCat(file, ":", frame.line, " in ", frame.function)];
      line.times += times;
      line.stack = stack;
      break;
    }
  }
  const auto most = std::max_element(lines.begin(), lines.end(),
                                     [](const auto& a, const auto& b) { return a.second.times < b.second.times; });
  absl::StrAppend(&site->explanation, "; PyTorch does not report the blocks of its pinned-memory pool: ");
  if (most == lines.end()) {
    absl::StrAppend(&site->explanation, "which line keeps them is not known");
    return;
  }
  const bool always = most->second.times == grown;
  absl::StrAppend(&site->explanation, always ? "all " : "", most->second.times,
                  always ? "" : absl::StrCat(" of ", grown), " times the pool grew for ", most->first,
                  lines.size() > 1 ? absl::StrCat(", otherwise for ", lines.size() - 1, " other lines") : "",
                  "; another line may keep the blocks");
  if (!always) return;
  site->frames = symbolizer->Frames(most->second.stack);
  site->blame_frame = NamingFrame(site->frames, 0);
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

// Adds rates per second to `sites`, whose rates are per step. If windows replace steps, converts the rates to rates per
// GiB allocated.
void SetRateUnits(const ProcessAnalysis& analysis, std::vector<ReportSite>* sites) {
  const Trace& trace = analysis.trace();
  const double seconds = trace.clock().Seconds(std::max(analysis.ledger().last_ticks(), trace.end_ticks()));
  const double steps_per_second = seconds > 0 ? analysis.run().steps / seconds : 0;
  const auto scale = [&](auto* rates) {
    const double windows_in_unit = kRateBytes / static_cast<double>(analysis.plan().window_bytes);
    rates->rate_bytes_per_step *= windows_in_unit;
    rates->rate_ci_low *= windows_in_unit;
    rates->rate_ci_high *= windows_in_unit;
    rates->rate_objects_per_step *= windows_in_unit;
  };
  for (ReportSite& site : *sites) {
    site.rate_bytes_per_second = WholeOf(site).rate_bytes_per_step * steps_per_second;
    if (!analysis.plan().has_windows()) continue;
    site.rate_unit = RateUnit::kGiB;
    scale(&site);
    if (site.group) scale(&*site.group);
  }
}

class LeakFindings final : public Collector {
 public:
  explicit LeakFindings(ProcessAnalysis* analysis)
      : analysis_(*analysis), pool_(analysis->trace()), leaks_(FindLeaks(analysis)) {
    for (const LeakGroup& leak : leaks_) watched_.push_back({WatchedSitesOf(leak.Members()), 0});
  }

  const char* name() const override { return "leaks"; }
  void Prepare(Replay* detail) override {
    for (size_t i = 0; i < leaks_.size(); ++i) {
      if (!leaks_[i].parts.empty()) watched_[i].counterfactual = detail->counterfactual.Watch(watched_[i].sites);
    }
    for (const SiteGroup& group : analysis_.groups()) {
      const SiteIndex first = group.sites[0];
      if (!IsLeak(analysis_.verdicts()[first].verdict)) continue;
      if (!analysis_.symbolizer().IsPinnedPool(analysis_.ledger().sites()[first].key.stack)) continue;
      detail->observers.push_back(&pool_);
      break;
    }
  }

  void Describe(const Replay& replay, ProcessFindings* findings) override {
    std::vector<ReportSite>* sites = &findings->sites;
    for (size_t i = 0; i < analysis_.groups().size(); ++i) {
      const SiteIndex first = analysis_.groups()[i].sites[0];
      if (!IsLeak(analysis_.verdicts()[first].verdict)) continue;
      AddPoolRemark(pool_, analysis_.ledger().sites()[first].key, &analysis_.symbolizer(), &(*sites)[i]);
    }
    for (size_t i = 0; i < leaks_.size(); ++i) {
      const LeakGroup& leak = leaks_[i];
      ReportSite& leader = (*sites)[leak.leader];
      const std::vector<size_t> members = leak.Members();
      for (const size_t part : leak.parts) (*sites)[part].part_of = ListedSite(leak.leader);
      leader.parts = leak.parts.size();
      const std::vector<size_t> within = CountOnce(members, sites);
      leader.group = Sum(members, *sites);
      leader.group->bytes_at_peak = 0;  // of one total, unlike the others
      for (const SiteIndex site : watched_[i].sites) {
        leader.group->bytes_at_peak += analysis_.ledger().sites()[site].bytes_at_peak;
      }
      if (leak.parts.empty()) {
        leader.group->peak_without = leader.peak_without_site;
      } else if (replay.made()) {
        leader.group->peak_without = replay.counterfactual.PeakWithout(watched_[i].counterfactual);
      }
      if (leak.call_frame) leader.blame_frame = *leak.call_frame;
      // What hardly matters by itself may do so with all that it keeps.
      if (leader.verdict == Verdict::kMinorLeak && IsMaterialTogether(leak, *leader.group)) {
        const SiteIndex first = analysis_.groups()[leak.leader].sites[0];
        leader.verdict = analysis_.verdicts()[first].replaced ? Verdict::kGrowingBuffer : Verdict::kLeak;
      }
      SayWhatTheyAre(members, *leader.group, *sites, &leader);
      for (const size_t part : within) {
        absl::StrAppend(&(*sites)[part].explanation,
                        IsGraphPoolGroup(part) ? "; these segments count with the blocks that lie in them"
                                               : "; these bytes count with the segments of the graphs' pools that they "
                                                 "lie in");
      }
    }
    DescribeKept(analysis_, sites);
    SetRateUnits(analysis_, sites);
  }

 private:
  ReportLeak Sum(const std::vector<size_t>& members, const std::vector<ReportSite>& sites) const {
    ReportLeak sum;
    for (const size_t member : members) AddPart(sites[member], &sum);
    return sum;
  }

  // Blocks lie in the segments of a graph's pool, so their bytes are the same. What grows faster counts: segments that
  // serve one graph each have room to spare, and one that serves many comes at once. Returns the members whose rates
  // this has removed.
  std::vector<size_t> CountOnce(const std::vector<size_t>& members, std::vector<ReportSite>* sites) const {
    std::vector<size_t> pools, blocks;
    double rate_of_pools = 0, rate_of_blocks = 0;
    for (const size_t member : members) {
      const double rate = (*sites)[member].rate_bytes_per_step;
      if (IsGraphPoolGroup(member)) {
        pools.push_back(member);
        rate_of_pools += rate;
      } else if (IsInGraphPools(FirstSite(member))) {
        blocks.push_back(member);
        rate_of_blocks += rate;
      }
    }
    if (pools.empty() || blocks.empty()) return {};
    const std::vector<size_t>& within = rate_of_pools >= rate_of_blocks ? blocks : pools;
    for (const size_t member : within) {
      ReportSite& site = (*sites)[member];
      site.rate_bytes_per_step = site.rate_ci_low = site.rate_ci_high = 0;
    }
    return within;
  }

  bool IsMaterialTogether(const LeakGroup& leak, const ReportLeak& whole) const {
    const SiteIndex first = analysis_.groups()[leak.leader].sites[0];
    const DeviceIndex device = analysis_.ledger().sites()[first].key.device;
    return IsMaterial({whole.rate_bytes_per_step, whole.rate_objects_per_step, {}, {}},
                      analysis_.options().horizon_steps, analysis_.ledger().DeviceBytes(device));
  }

  // The sites of a leak whose bytes count to the total that its figures at the peak are about.
  std::vector<SiteIndex> WatchedSitesOf(const std::vector<size_t>& members) const {
    const uint32_t scope = analysis_.ScopeOf(members);
    std::vector<SiteIndex> sites;
    for (const size_t member : members) {
      for (const SiteIndex site : analysis_.groups()[member].sites) {
        if (analysis_.ledger().sites()[site].scope == scope) sites.push_back(site);
      }
    }
    return sites;
  }

  const Site& FirstSite(size_t group) const { return analysis_.ledger().sites()[analysis_.groups()[group].sites[0]]; }
  bool IsGraphPoolGroup(size_t group) const { return IsGraphPool(FirstSite(group).key.kind); }

  ProcessAnalysis& analysis_;
  PinnedPoolGrowth pool_;
  const std::vector<LeakGroup> leaks_;
  // Of each leak.
  struct Watched {
    std::vector<SiteIndex> sites;
    size_t counterfactual = 0;  // only of a leak with several parts
  };
  std::vector<Watched> watched_;
};

}  // namespace

std::unique_ptr<Collector> MakeLeakFindings(ProcessAnalysis* analysis) {
  return std::make_unique<LeakFindings>(analysis);
}

}  // namespace vramtrack
