// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/peaks/peak_collectors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"
#include "analyzer/model/whole_leak.h"

namespace vramtrack {
namespace {

// Sites are symbolized, the largest first, until the others hold less than this share of the peak.
constexpr uint64_t kUnseenPart = 1000;
constexpr size_t kMaxHolders = 1000;  // reading debug information for more would take long

// Adds the job's lines with the most bytes at the peak of each device and of the host. A site is a call stack, and one
// line may have many. Leaks are listed by leak, not by line.
class PeakLines final : public Collector {
 public:
  // Symbolizes the sites with nearly all bytes of each peak. `purposes`: by site. `analysis` must outlive it.
  PeakLines(ProcessAnalysis* analysis, const SitePurposes& purposes) : analysis_(*analysis), purposes_(purposes) {
    const std::vector<Scope>& scopes = analysis_.ledger().scopes();
    for (uint32_t i = 0; i < scopes.size(); ++i) {
      if (scopes[i].peak > 0 && scopes[i].is_total()) {
        peaks_.push_back(LinesOf(i));
      }
    }
  }

  const char* name() const override { return "lines at the peak"; }
  // Requests the peak without each line.
  void Prepare(Replay* detail) override {
    for (Peak& peak : peaks_) {
      for (Line& line : peak.lines) line.watched = detail->counterfactual.Watch(line.sites);
    }
  }

  void Describe(const Replay& replay, ProcessFindings* findings) override {
    const Ledger& ledger = analysis_.ledger();
    const std::vector<ReportSite>& sites = findings->sites;
    const std::map<size_t, std::vector<size_t>> leaks = LeakMembers(sites);
    for (const Peak& peak : peaks_) {
      const Scope& scope = ledger.scopes()[peak.scope];
      ReportPeakLines lines;
      lines.device = NumberOf(scope.device);
      lines.live = scope.peak;
      uint64_t all_sites = peak.sites;
      for (const Line& line : peak.lines) lines.lines.push_back(DescribeLine(line, replay.counterfactual));
      for (const auto& [leader, members] : leaks) {
        const ReportSite& site = sites[leader];
        const ReportLeak whole = WholeOf(site);
        if (analysis_.ScopeOf(members) != peak.scope || whole.bytes_at_peak == 0) continue;
        ReportPeakLine leak;
        if (!site.frames.empty()) leak.line = site.frames[site.blame_frame];
        leak.site = ListedSite(leader);
        leak.leak = true;
        leak.sites = members.size();
        leak.bytes = whole.bytes_at_peak;
        leak.peak_without = whole.peak_without;
        all_sites += leak.sites;
        lines.lines.push_back(std::move(leak));
      }
      std::stable_sort(lines.lines.begin(), lines.lines.end(),
                       [](const ReportPeakLine& a, const ReportPeakLine& b) { return a.bytes > b.bytes; });
      lines.other_bytes = scope.peak;
      lines.other_sites = all_sites;
      for (const ReportPeakLine& line : lines.lines) {
        lines.other_bytes -= line.bytes;
        lines.other_sites -= line.sites;
      }
      findings->peak_lines.push_back(std::move(lines));
    }
    findings->peak_stacks = DescribePeakStacks(analysis_, sites);
  }

 private:
  struct Line {
    std::vector<SiteIndex> sites;  // largest first
    std::optional<ReportFrame> frame;
    uint64_t bytes = 0;
    size_t watched = 0;
  };
  struct Peak {
    uint32_t scope = 0;
    std::vector<Line> lines;  // most bytes first, at most as many as the report shows
    uint64_t sites = 0;       // number of sites with bytes at the peak, without leaks
  };

  Peak LinesOf(uint32_t scope) {
    const Sites& sites = analysis_.ledger().sites();
    Peak peak;
    peak.scope = scope;
    std::vector<SiteIndex> holders;
    uint64_t unseen = 0;
    for (const SiteIndex i : sites.indices()) {
      if (sites[i].scope != scope || sites[i].bytes_at_peak == 0 || IsOfLeak(i)) continue;
      holders.push_back(i);
      unseen += sites[i].bytes_at_peak;
    }
    peak.sites = holders.size();
    std::sort(holders.begin(), holders.end(), [&](SiteIndex a, SiteIndex b) {
      return sites[a].bytes_at_peak != sites[b].bytes_at_peak ? sites[a].bytes_at_peak > sites[b].bytes_at_peak : a < b;
    });
    const uint64_t left_out = analysis_.ledger().scopes()[scope].peak / kUnseenPart;
    std::vector<std::vector<ReportFrame>> stacks;
    SitePlaces places;
    for (size_t i = 0; i < holders.size() && i < kMaxHolders && unseen > left_out; ++i) {
      stacks.push_back(analysis_.symbolizer().Frames(sites[holders[i]].key.stack));
      places.Count(stacks.back());
      unseen -= sites[holders[i]].bytes_at_peak;
    }
    std::map<std::string, size_t> by_place;
    for (size_t i = 0; i < stacks.size(); ++i) {
      const ReportFrame* frame = places.Of(stacks[i]);
      const auto [found, is_new] = by_place.try_emplace(FramePlace(frame), peak.lines.size());
      if (is_new) {
        peak.lines.emplace_back();
        if (frame != nullptr) peak.lines.back().frame = *frame;
      }
      Line& line = peak.lines[found->second];
      line.sites.push_back(holders[i]);
      line.bytes += sites[holders[i]].bytes_at_peak;
    }
    std::stable_sort(peak.lines.begin(), peak.lines.end(),
                     [](const Line& a, const Line& b) { return a.bytes > b.bytes; });
    if (peak.lines.size() > analysis_.options().top) peak.lines.resize(analysis_.options().top);
    return peak;
  }

  bool IsOfLeak(SiteIndex site) const {
    const size_t group = analysis_.GroupOf(site);
    if (group == ProcessAnalysis::kNoGroup) return false;
    return IsLeak(analysis_.verdicts()[analysis_.groups()[group].sites[0]].verdict);
  }

  ReportPeakLine DescribeLine(const Line& line, const Counterfactual& without) const {
    ReportPeakLine described;
    described.line = line.frame;
    described.site = ListedSite(analysis_.GroupOf(line.sites[0]));
    described.sites = line.sites.size();
    described.bytes = line.bytes;
    described.peak_without = without.PeakWithout(line.watched);
    const Category category = purposes_[line.sites[0]].category;
    if (std::all_of(line.sites.begin(), line.sites.end(),
                    [&](SiteIndex site) { return purposes_[site].category == category; })) {
      described.category = analysis_.options().categories.Name(category);
    }
    return described;
  }

  ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  std::vector<Peak> peaks_;
};

}  // namespace

std::unique_ptr<Collector> MakePeakLines(ProcessAnalysis* analysis, const SitePurposes& purposes) {
  return std::make_unique<PeakLines>(analysis, purposes);
}

}  // namespace vramtrack
