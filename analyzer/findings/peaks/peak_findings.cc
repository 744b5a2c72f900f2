// SPDX-License-Identifier: Apache-2.0
//
// Describes the memory at the peaks: its purpose, age and size.
#include "analyzer/findings/peaks/peak_collectors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/peak.h"

namespace vramtrack {
namespace {

// Sites are looked at, the largest first, until what the others can hold is less than this share of the peaks.
constexpr uint64_t kUnseenShare = 1000;
constexpr size_t kMaxSites = 4000;  // reading debug information for more would take long

// About the most that a site held at a time: at the peak, at the end, or allocated in a step. A site that
// allocates less often than once a step may have held all of it.
uint64_t WeightOf(const Site& site, uint32_t steps) {
  const uint64_t in_a_step =
      site.allocations <= steps ? site.bytes_allocated : site.bytes_allocated / std::max(steps, 1u);
  return std::max({site.bytes_at_peak, site.live_bytes, in_a_step});
}

constexpr uint32_t kRecentSteps = 10;  // before the peak's own
constexpr PeakAge kAges[] = {PeakAge::kThisStep, PeakAge::kRecentSteps, PeakAge::kEarlierSteps, PeakAge::kSetup};
// The largest size of each class; the last class has no limit.
constexpr uint64_t kSizeLimits[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20};

PeakAge AgeOf(uint32_t birth_step, uint32_t now) {
  if (birth_step == 0) return PeakAge::kSetup;
  if (birth_step == now) return PeakAge::kThisStep;
  return now - birth_step <= kRecentSteps ? PeakAge::kRecentSteps : PeakAge::kEarlierSteps;
}

std::vector<ReportPeakCategory> CategoriesAtPeak(const ProcessAnalysis& analysis, const SitePurposes& purposes,
                                                 const Scope& scope) {
  const Ledger& ledger = analysis.ledger();
  const CategoryRules& rules = analysis.options().categories;
  struct Sum {
    uint64_t bytes = 0;
    double confidence = 0;  // times bytes
    std::array<uint64_t, kEvidences> by_evidence{};
  };
  std::vector<Sum> sums(rules.count());
  for (const SiteIndex i : ledger.sites().indices()) {
    const Site& site = ledger.sites()[i];
    if (site.scope == Site::kNoScope || &ledger.scopes()[site.scope] != &scope || site.bytes_at_peak == 0) continue;
    Sum& sum = sums[static_cast<size_t>(purposes[i].category)];
    sum.bytes += site.bytes_at_peak;
    sum.confidence += purposes[i].confidence * static_cast<double>(site.bytes_at_peak);
    sum.by_evidence[static_cast<size_t>(purposes[i].evidence)] += site.bytes_at_peak;
  }
  std::vector<ReportPeakCategory> categories;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].bytes == 0) continue;
    ReportPeakCategory category;
    category.name = rules.Name(static_cast<Category>(i));
    category.bytes = sums[i].bytes;
    category.confidence = sums[i].confidence / static_cast<double>(sums[i].bytes);
    for (size_t e = 0; e < kEvidences; ++e) {
      if (sums[i].by_evidence[e] == 0) continue;
      category.evidence.emplace_back(EvidenceName(static_cast<PurposeEvidence>(e)), sums[i].by_evidence[e]);
    }
    categories.push_back(std::move(category));
  }
  std::stable_sort(categories.begin(), categories.end(),
                   [](const ReportPeakCategory& a, const ReportPeakCategory& b) { return a.bytes > b.bytes; });
  return categories;
}

// Adds the composition of each device's peak, and the peak without its largest sites. The live allocations are looked
// at when the devices reach their peaks in the replay; by age and by size they add up to the peak.
class PeakFindings final : public Collector, public ReplayObserver {
 public:
  PeakFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes)
      : analysis_(analysis),
        purposes_(purposes),
        largest_(Largest(analysis)),
        awaited_(PeakChanges(analysis.ledger())) {}

  const char* name() const override { return "peaks"; }

  void Prepare(Replay* detail) override {
    for (Together& together : largest_) {
      std::vector<SiteIndex> sites;
      for (const size_t group : together.groups) {
        const std::vector<SiteIndex>& of_group = analysis_.groups()[group].sites;
        sites.insert(sites.end(), of_group.begin(), of_group.end());
      }
      together.watched = detail->counterfactual.Watch(std::move(sites));
    }
    detail->observers.push_back(this);
  }

  void Describe(const Replay& replay, ProcessFindings* findings) override {
    for (ReportDevice& device : findings->devices) {
      const Scope* scope = LeadingScope(analysis_.ledger(), DeviceIndex(device.index));
      const auto peak = peaks_.find(DeviceIndex(device.index));
      if (scope == nullptr || peak == peaks_.end()) continue;
      device.peak_set = std::move(peak->second);
      if (!device.peak.step) device.peak_set.ages.clear();
      device.peak_set.categories = CategoriesAtPeak(analysis_, purposes_, *scope);
    }
    for (const Together& together : largest_) {
      for (ReportDevice& device : findings->devices) {
        if (DeviceIndex(device.index) != together.device) continue;
        ReportPeakWithout several;
        for (const size_t group : together.groups) several.sites.push_back(ListedSite(group));
        several.peak = replay.counterfactual.PeakWithout(together.watched);
        device.peak_set.without.push_back(std::move(several));
      }
    }
  }

  unsigned frequent_calls() const override { return awaited_.empty() ? 0 : kAllocations | kSums; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (__builtin_expect(!awaited_.empty(), 0) && allocated.scope != nullptr && allocated.scope->is_leading()) {
      LookAt(*allocated.scope);
    }
  }

 private:
  // Groups of the analysis whose bytes are subtracted from a device's peak together.
  struct Together {
    DeviceIndex device;
    std::vector<size_t> groups;  // the groups with the most bytes at the peak, largest first
    size_t watched = 0;
  };

  static std::vector<Together> Largest(const ProcessAnalysis& analysis) {
    constexpr size_t kMost = 3;
    const Ledger& ledger = analysis.ledger();
    std::map<DeviceIndex, std::vector<std::pair<uint64_t, size_t>>> by_device;  // bytes at the peak, group
    for (size_t i = 0; i < analysis.groups().size(); ++i) {
      uint64_t bytes = 0;
      for (const SiteIndex site : analysis.groups()[i].sites) bytes += ledger.sites()[site].bytes_at_peak;
      const Site& first = ledger.sites()[analysis.groups()[i].sites[0]];
      if (bytes == 0 || first.scope == Site::kNoScope || !ledger.scopes()[first.scope].is_leading()) continue;
      by_device[first.key.device].emplace_back(bytes, i);
    }
    std::vector<Together> all;
    for (auto& [device, groups] : by_device) {
      std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
      Together together;
      together.device = device;
      for (size_t i = 0; i < groups.size() && i < kMost; ++i) {
        together.groups.push_back(groups[i].second);
        all.push_back(together);
      }
    }
    return all;
  }

  void LookAt(const Scope& scope) {
    // The change has been counted already.
    const auto awaited = awaited_.find(scope.device);
    if (awaited != awaited_.end() && scope.changes == awaited->second + 1) Reached(scope);
  }

  void Reached(const Scope& scope) {
    awaited_.erase(scope.device);
    ReportPeakSet& set = peaks_[scope.device];
    for (const PeakAge age : kAges) set.ages.push_back({age, 0, 0});
    for (const uint64_t limit : kSizeLimits) set.sizes.push_back({limit, 0, 0});
    set.sizes.emplace_back();
    const uint32_t now = ledger_->steps().step();
    ledger_->ForEachLive([&](SiteIndex site, uint32_t birth_step, uint64_t objects, uint64_t bytes) {
      if (objects == 0 || ledger_->sites()[site].scope != scope.index) return;
      ReportPeakShare& age = *std::find_if(set.ages.begin(), set.ages.end(),
                                           [of = AgeOf(birth_step, now)](auto& share) { return share.age == of; });
      age.objects += objects;
      age.bytes += bytes;
      const auto limit = std::lower_bound(std::begin(kSizeLimits), std::end(kSizeLimits), bytes / objects);
      ReportSizeClass& size = set.sizes[static_cast<size_t>(limit - std::begin(kSizeLimits))];
      size.objects += objects;
      size.bytes += bytes;
    });
  }

  const ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  std::vector<Together> largest_;  // for each device the largest group, the two largest and the three largest
  const Ledger* ledger_ = nullptr;
  std::map<DeviceIndex, uint64_t> awaited_;     // the changes that reach the peaks; only those that are still to come
  std::map<DeviceIndex, ReportPeakSet> peaks_;  // ages and sizes
};

}  // namespace

SitePurposes PurposesOfSites(ProcessAnalysis* analysis) {
  const Sites& sites = analysis->ledger().sites();
  const uint32_t steps = analysis->run().steps;
  std::vector<SiteIndex> order;
  for (const SiteIndex i : sites.indices()) {
    const Site& site = sites[i];
    if (site.scope == Site::kNoScope) continue;
    if (!analysis->ledger().scopes()[site.scope].is_total()) continue;
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](SiteIndex a, SiteIndex b) {
    const uint64_t weight_a = WeightOf(sites[a], steps), weight_b = WeightOf(sites[b], steps);
    return weight_a != weight_b ? weight_a > weight_b : a < b;
  });
  uint64_t peaks = 0, unseen = 0;
  for (const Scope& scope : analysis->ledger().scopes()) peaks += scope.peak;
  for (const SiteIndex site : order) unseen += WeightOf(sites[site], steps);
  std::vector<SiteIndex> seen;
  for (size_t i = 0; i < order.size(); ++i) {
    const SiteIndex site = order[i];
    const bool symbolized = analysis->GroupOf(site) != ProcessAnalysis::kNoGroup;
    if (symbolized || (i < kMaxSites && unseen > peaks / kUnseenShare)) seen.push_back(site);
    unseen -= WeightOf(sites[site], steps);
  }
  analysis->FindSizesOfParameters(seen);
  SitePurposes purposes(sites.size());
  for (const SiteIndex site : seen) purposes[site] = analysis->PurposeOf(site);
  return purposes;
}

std::unique_ptr<Collector> MakePeakFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes) {
  return std::make_unique<PeakFindings>(analysis, purposes);
}

}  // namespace vramtrack
