// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/regular_gaps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "analyzer/steps/step_choice.h"

namespace vramtrack {
namespace {

constexpr int kBinBits = 4;  // 16 bins for each power of two

uint32_t BinOf(uint64_t gap) {
  constexpr uint64_t kExact = uint64_t{1} << (kBinBits + 1);
  if (gap < kExact) return static_cast<uint32_t>(gap);
  const int power = 63 - __builtin_clzll(gap);
  const int shift = power - kBinBits;
  return static_cast<uint32_t>(shift << kBinBits) + static_cast<uint32_t>(gap >> shift);
}

}  // namespace

void GapHistogram::Add(uint64_t gap) {
  const uint32_t index = BinOf(gap);
  auto bin = std::lower_bound(bins_.begin(), bins_.end(), index, [](const Bin& a, uint32_t i) { return a.index < i; });
  if (bin == bins_.end() || bin->index != index) bin = bins_.insert(bin, Bin{index, 0, 0});
  ++bin->count;
  bin->sum += gap;
  ++count_;
}

double GapHistogram::Median() const {
  uint64_t seen = 0;
  for (const Bin& bin : bins_) {
    seen += bin.count;
    if (seen > count_ / 2) return bin.Mean();
  }
  return 0;
}

double GapHistogram::DeviationQuantile(double centre, double quantile) const {
  std::vector<std::pair<double, uint32_t>> deviations;
  for (const Bin& bin : bins_) deviations.emplace_back(std::fabs(bin.Mean() - centre), bin.count);
  std::sort(deviations.begin(), deviations.end());
  const auto rank = static_cast<uint64_t>(quantile * static_cast<double>(count_));
  uint64_t seen = 0;
  for (const auto& [deviation, count] : deviations) {
    seen += count;
    if (seen > rank) return deviation / std::max(1.0, centre);
  }
  return 0;
}

double GapHistogram::MeanLogDeviation(double centre) const {
  double sum = 0;
  for (const Bin& bin : bins_) sum += bin.count * std::fabs(std::log(std::max(bin.Mean(), 0.5) / centre));
  return count_ > 0 ? sum / static_cast<double>(count_) : 0;
}

namespace {

constexpr uint64_t kMinOccurrences = 8;
// From first to last occurrence, of the whole stream: a phase is not the job's step.
constexpr double kMinSpan = 0.7;
constexpr double kMaxDeviation = 0.35;
constexpr double kDeviationQuantile = 0.9;
// Rejects the loop over layers, whose gaps are many small ones and a huge one in each step: without it, every stream of
// a transformer looks periodic at its layers.
constexpr double kMaxMeanOverMedian = 0.15;
// A loop of fewer events is one inside a step, unless there is nothing else. What is an event more or less in it says
// nothing, so gaps are compared as if they were no shorter than this.
constexpr double kMinPeriodEvents = 5;
// One site, or two, may be regular by accident.
constexpr size_t kMinSites = 3;
// Unless they are most of the stream. Two: a loop over one line looks like one that runs through its data.
constexpr size_t kMinTightSites = 2;
constexpr double kTightShare = 0.5;
// Or unless it is a loop around such a one, and nearly all of its gaps are alike: within this share. What leaks makes
// the pool take a segment now and then.
constexpr double kAlike = 0.15;
// What a loop does from its second or tenth time on, or not every time, comes nearly as often.
constexpr double kSameLoop = 0.85;
// A loop around another comes at most half as often. Halfway between that and equally often.
constexpr double kNearlyAsOften = 0.67;

// So few equal loops may be what a step does twice: its layers. An optimizer's step of so few small batches is one too.
constexpr uint64_t kFewInStep = 3;

// So far from a whole number of steps, and a loop is not made of them.
constexpr double kMaxFraction = 0.05;

}  // namespace

std::vector<OuterLoop> LoopsAround(const GapFamily& steps, const std::vector<GapFamily>& families) {
  std::vector<OuterLoop> loops;
  for (const GapFamily& family : families) {
    const double inner = family.period_events / steps.period_events;
    const double whole = std::round(inner);
    if (whole < 2 || std::fabs(inner - whole) > kMaxFraction) continue;
    const auto each = static_cast<uint64_t>(whole);
    // One may have begun at each end.
    const uint64_t expected = each * family.occurrences;
    if (expected > steps.occurrences + each || expected + 2 * each < steps.occurrences) continue;
    // Families by falling numbers: their loops become longer. Of equally long ones the first, which is seen more often.
    if (loops.empty() || loops.back().inner < each) loops.push_back({each, family.occurrences});
  }
  return loops;
}

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

bool RegularGaps::IsSpread(const Site& site) const {
  if (site.count < kMinOccurrences) return false;
  const double span = static_cast<double>(site.last - site.first);
  if (span < kMinSpan * static_cast<double>(events_)) return false;
  const double median = site.gaps.Median();
  const double mean = span / static_cast<double>(site.count - 1);
  return std::fabs(mean - median) < kMaxMeanOverMedian * std::max(median, kMinPeriodEvents);
}

bool RegularGaps::IsRegular(const Site& site) const {
  const double median = site.gaps.Median();
  return median >= kMinPeriodEvents && IsSpread(site) &&
         site.gaps.DeviationQuantile(median, kDeviationQuantile) < kMaxDeviation;
}

GapFamily RegularGaps::Describe(std::vector<uint32_t> sites) const {
  std::sort(sites.begin(), sites.end());
  GapFamily family;
  for (const uint32_t index : sites) family.occurrences = std::max(family.occurrences, sites_[index].count);
  bool found = false;
  for (const uint32_t index : sites) {
    const Site& candidate = sites_[index];
    family.deviation += candidate.gaps.MeanLogDeviation(candidate.gaps.Median()) / static_cast<double>(sites.size());
    // In a run that was cut off within a step, some come once less.
    if (candidate.count + 1 < family.occurrences) continue;
    const Site& best = sites_[family.anchor];
    const double less = candidate.MeanLiveBytes() - best.MeanLiveBytes();
    // Of equals the first in the step.
    if (!found || less < 0 || (less == 0 && candidate.first < best.first)) family.anchor = index;
    found = true;
  }
  const Site& anchor = sites_[family.anchor];
  family.live_bytes = anchor.MeanLiveBytes();
  family.occurrences = anchor.count;
  family.period_events = static_cast<double>(anchor.last - anchor.first) / static_cast<double>(anchor.count - 1);
  family.sites = std::move(sites);
  return family;
}

std::vector<GapFamily> RegularGaps::Families() const {
  std::map<uint64_t, std::vector<uint32_t>, std::greater<>> by_count;
  for (uint32_t index = 0; index < sites_.size(); ++index) {
    if (IsRegular(sites_[index])) by_count[sites_[index].count].push_back(index);
  }
  std::vector<GapFamily> families;
  for (auto& [count, sites] : by_count) {
    if (sites.size() >= kMinSites) families.push_back(Describe(std::move(sites)));
  }
  if (!families.empty()) return families;
  if (std::optional<GapFamily> tight = TightLoop()) {
    families.push_back(std::move(*tight));
    // A line that is run for each layer is one site, and may be most of what a request allocates.
    for (auto& [count, sites] : by_count) {
      if (count >= families.front().occurrences || count < kEnoughSteps) continue;
      sites.erase(std::remove_if(sites.begin(), sites.end(),
                                 [this](uint32_t site) {
                                   const GapHistogram& gaps = sites_[site].gaps;
                                   return gaps.DeviationQuantile(gaps.Median(), kDeviationQuantile) > kAlike;
                                 }),
                  sites.end());
      if (!sites.empty()) families.push_back(Describe(std::move(sites)));
    }
  }
  return families;
}

std::optional<GapFamily> RegularGaps::TightLoop() const {
  uint64_t most = 0;
  std::vector<uint32_t> spread, sites;
  for (uint32_t index = 0; index < sites_.size(); ++index) {
    if (!IsSpread(sites_[index])) continue;
    spread.push_back(index);
    most = std::max(most, sites_[index].count);
  }
  uint64_t covered = 0;
  for (const uint32_t index : spread) {
    if (static_cast<double>(sites_[index].count) < kSameLoop * static_cast<double>(most)) continue;
    sites.push_back(index);
    covered += sites_[index].count;
  }
  const bool dominates = static_cast<double>(covered) >= kTightShare * static_cast<double>(events_);
  if (sites.size() < kMinTightSites || !dominates) return std::nullopt;
  return Describe(std::move(sites));
}

const GapFamily* RegularGaps::AroundFew(const GapFamily* steps, const std::vector<GapFamily>& families) {
  const GapFamily* around = steps;
  for (const GapFamily& family : families) {
    // With fewer, the loops within them are the steps.
    if (family.occurrences < kEnoughSteps || family.live_bytes >= steps->live_bytes) continue;
    const std::vector<OuterLoop> loops = LoopsAround(*steps, {family});
    if (loops.empty() || loops[0].inner > kFewInStep) continue;
    if (family.period_events > around->period_events) around = &family;
  }
  return around;
}

const GapFamily* RegularGaps::StepsOf(const std::vector<GapFamily>& families) {
  const GapFamily* steps = families.empty() ? nullptr : &families.front();
  for (const GapFamily& family : families) {
    const GapFamily& first = families.front();
    const double often = static_cast<double>(family.occurrences) / static_cast<double>(first.occurrences);
    // As often while it lasts: what the loop does from its tenth time on, say, but not another loop.
    const bool is_part = first.period_events / family.period_events > (1 + often) / 2;
    if (often > kNearlyAsOften && !is_part && family.deviation < steps->deviation) steps = &family;
  }
  return steps == nullptr ? nullptr : AroundFew(steps, families);
}

}  // namespace vramtrack
