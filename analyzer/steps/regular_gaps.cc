// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/regular_gaps.h"

#include <cmath>
#include <functional>
#include <map>

namespace vramtrack {
namespace {

constexpr uint64_t kMinOccurrences = 8;
// From first to last occurrence, of the whole stream: a phase is not the job's step.
constexpr double kMinSpan = 0.7;
constexpr double kMaxDeviation = 0.35;
constexpr double kDeviationQuantile = 0.9;
// Rejects the loop over layers, whose gaps are many small ones and a huge one in each step: without it, every stream of
// a transformer looks periodic at its layers.
constexpr double kMaxMeanOverMedian = 0.15;
// A loop of fewer events is one inside a step.
constexpr double kMinPeriodEvents = 5;
// One site, or two, may be regular by accident.
constexpr size_t kMinSites = 3;

}  // namespace

void RegularGaps::OnEvent(uint32_t site_index, uint64_t live_bytes) {
  if (site_index >= sites_.size()) sites_.resize(size_t{site_index} + 1 + site_index / 2);
  Site& site = sites_[site_index];
  if (site.count == 0) {
    site.first = events_;
  } else {
    site.gaps.Add(events_ - site.last);
  }
  site.last = events_;
  site.live_bytes += static_cast<double>(live_bytes);
  ++site.count;
  ++events_;
}

bool RegularGaps::IsRegular(const Site& site) const {
  if (site.count < kMinOccurrences) return false;
  const double span = static_cast<double>(site.last - site.first);
  if (span < kMinSpan * static_cast<double>(events_)) return false;
  const double median = site.gaps.Median();
  if (median < kMinPeriodEvents) return false;
  const double mean = span / static_cast<double>(site.count - 1);
  if (std::fabs(mean / median - 1) >= kMaxMeanOverMedian) return false;
  return site.gaps.DeviationQuantile(median, kDeviationQuantile) < kMaxDeviation;
}

std::vector<GapFamily> RegularGaps::Families() const {
  std::map<uint64_t, GapFamily, std::greater<>> by_count;
  for (uint32_t index = 0; index < sites_.size(); ++index) {
    if (IsRegular(sites_[index])) by_count[sites_[index].count].sites.push_back(index);
  }
  std::vector<GapFamily> families;
  for (auto& [count, family] : by_count) {
    if (family.sites.size() < kMinSites) continue;
    family.occurrences = count;
    family.anchor = family.sites.front();
    for (const uint32_t index : family.sites) {
      const Site& candidate = sites_[index];
      const Site& best = sites_[family.anchor];
      // Equally often seen, so sums compare as means do; of equals the first in the step.
      const bool less = candidate.live_bytes < best.live_bytes;
      const bool earlier = candidate.live_bytes == best.live_bytes && candidate.first < best.first;
      if (less || earlier) family.anchor = index;
    }
    const Site& anchor = sites_[family.anchor];
    family.period_events = static_cast<double>(anchor.last - anchor.first) / static_cast<double>(count - 1);
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace vramtrack
