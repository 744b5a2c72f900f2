// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/joined_sites.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/job/site_id.h"

namespace vramtrack {
namespace {

// Of what a leak keeps as a whole.
std::pair<double, double> LeakRate(const ReportSite& site) {
  if (!site.group) return {site.rate_bytes_per_step, site.rate_objects_per_step};
  return {site.group->rate_bytes_per_step, site.group->rate_objects_per_step};
}

SiteRow RowOf(const ReportSite& site, uint32_t index) {
  SiteRow row;
  row.site = index;
  row.vote = IsLeak(site)                                     ? Vote::kLeak
             : site.verdict == Verdict::kInsufficientEvidence ? Vote::kNotEnough
                                                              : Vote::kNoLeak;
  row.leads = IsLeak(site) && site.part_of.empty();
  row.per_step = site.rate_unit == RateUnit::kStep;
  row.rate_bytes_per_step = site.rate_bytes_per_step;
  row.rate_ci_low = site.rate_ci_low;
  row.rate_ci_high = site.rate_ci_high;
  row.rate_objects_per_step = site.rate_objects_per_step;
  row.rate_bytes_per_second = site.rate_bytes_per_second;
  row.leak_bytes_per_step = LeakRate(site).first;
  row.leak_ci_low = site.group ? site.group->rate_ci_low : site.rate_ci_low;
  row.leak_ci_high = site.group ? site.group->rate_ci_high : site.rate_ci_high;
  return row;
}

// The site that leads the leak of `index`: part_of holds indices until the leaders are known.
uint32_t LeaderOf(const std::vector<ReportSite>& sites, uint32_t index) {
  std::set<uint32_t> seen;
  const auto next = [&](uint32_t site) { return static_cast<uint32_t>(std::stoul(sites[site].part_of)); };
  while (!sites[index].part_of.empty() && seen.insert(index).second) index = next(index);
  if (sites[index].part_of.empty()) return index;
  // Processes contradict each other in a circle: any of it will do that does not depend on their order.
  uint32_t leader = index;
  for (uint32_t site = next(index); site != index; site = next(site)) {
    if (sites[site].id < sites[leader].id) leader = site;
  }
  return leader;
}

// Gives each part the id of its leader, and each leader the figures of the whole. `processes`: how many there are; the
// figures of a single one are right as they are.
void JoinLeaks(size_t processes, const std::vector<uint32_t>& leaders, std::vector<ReportSite>* sites) {
  for (ReportSite& site : *sites) {
    site.parts = 0;
    if (site.group && processes > 1) site.group = ReportLeak{0, 0, 0, 0, 0, 0, site.group->peak_without};
  }
  // Sums of fractions depend on their order.
  std::vector<uint32_t> order(sites->size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return (*sites)[a].id < (*sites)[b].id; });
  for (const uint32_t i : order) {
    ReportSite& site = (*sites)[i];
    ReportSite& leader = (*sites)[leaders[i]];
    site.part_of = leaders[i] == i ? "" : leader.id;
    leader.parts += leaders[i] != i;
    if (!IsLeak(site)) continue;
    if (!leader.group) leader.group = ReportLeak{0, 0, 0, 0, 0, 0, leader.peak_without_site};
    if (processes == 1) continue;
    leader.group->rate_bytes_per_step += site.rate_bytes_per_step;
    leader.group->rate_ci_low += site.rate_ci_low;
    leader.group->rate_ci_high += site.rate_ci_high;
    leader.group->rate_objects_per_step += site.rate_objects_per_step;
    leader.group->live_bytes += site.live_bytes;
    leader.group->bytes_at_peak += site.bytes_at_peak;
  }
  for (const uint32_t i : order) {
    if (leaders[i] != i) (*sites)[i].group.reset();
  }
}

}  // namespace

bool IsWorse(const ReportSite& a, const ReportSite& b) {
  const auto rank = [](const ReportSite& site) {
    if (!IsLeak(site)) return 3;
    return !site.part_of.empty() ? 2 : site.verdict == Verdict::kMinorLeak ? 1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (rank(a) != 3 && LeakRate(a) != LeakRate(b)) return LeakRate(a) > LeakRate(b);
  // Of two that tell the same, the one with a line to go to.
  const bool own = OwnFrame(a.frames).has_value();
  if (rank(a) != 3 && own != OwnFrame(b.frames).has_value()) return own;
  if (a.bytes_at_peak != b.bytes_at_peak) return a.bytes_at_peak > b.bytes_at_peak;
  return a.id < b.id;
}

uint32_t JoinedSites::IndexOf(const JobProcess& process, const ReportSite& site) {
  std::vector<uint32_t>& alike = by_hash_[PlaceHash(site)];
  uint32_t place = place_count_;
  for (const uint32_t index : alike) {
    if (!IsSamePlace(worst_[index], site)) continue;
    if (worst_[index].device == site.device) return index;
    place = places_[index];
  }
  place_count_ += place == place_count_;
  places_.push_back(place);
  alike.push_back(static_cast<uint32_t>(worst_.size()));
  worst_.push_back(site);
  worst_of_.push_back(&process);
  holders_.emplace_back();
  holders_of_.push_back(nullptr);
  sums_.emplace_back();
  return alike.back();
}

void JoinedSites::KeepHolder(const JobProcess& process, const ReportSite& site, uint32_t index) {
  if (!site.holder) return;
  if (holders_of_[index] != nullptr && !IsBefore(process, *holders_of_[index])) return;
  holders_[index] = std::make_unique<ReportHolder>(*site.holder);
  holders_of_[index] = &process;
}

std::vector<SiteRow> JoinedSites::Add(const JobProcess& process, std::vector<ReportSite> sites) {
  std::vector<SiteRow> rows;
  rows.reserve(sites.size());
  for (const ReportSite& site : sites) {
    const uint32_t index = IndexOf(process, site);
    rows.push_back(RowOf(site, index));
    Sums& sums = sums_[index];
    sums.allocations += site.allocations;
    sums.frees += site.frees;
    sums.bytes_allocated += site.bytes_allocated;
    sums.live_objects += site.live_objects;
    sums.live_bytes += site.live_bytes;
    sums.bytes_at_peak += site.bytes_at_peak;
    sums.peak_without_site = std::max(sums.peak_without_site, site.peak_without_site);
    KeepHolder(process, site, index);
  }
  for (size_t i = 0; i < sites.size(); ++i) {
    if (!sites[i].part_of.empty()) sites[i].part_of = absl::StrCat(rows[std::stoul(sites[i].part_of)].site);
    ReportSite& worst = worst_[rows[i].site];
    const JobProcess*& of = worst_of_[rows[i].site];
    // What is new stands there already, but does not know its leader's index.
    const bool first = of == &process || IsBefore(process, *of);
    if (!IsWorse(sites[i], worst) && (!first || IsWorse(worst, sites[i]))) continue;
    worst = std::move(sites[i]);
    of = &process;
  }
  return rows;
}

std::vector<ReportSite> JoinedSites::Finish(const std::vector<const JobProcess*>& processes) {
  std::vector<ReportSite> sites = std::move(worst_);
  for (size_t i = 0; i < sites.size(); ++i) {
    ReportSite& site = sites[i];
    site.allocations = sums_[i].allocations;
    site.frees = sums_[i].frees;
    site.bytes_allocated = sums_[i].bytes_allocated;
    site.live_objects = sums_[i].live_objects;
    site.live_bytes = sums_[i].live_bytes;
    site.bytes_at_peak = sums_[i].bytes_at_peak;
    site.peak_without_site = sums_[i].peak_without_site;
    site.rate_bytes_per_step = site.rate_objects_per_step = site.rate_ci_low = site.rate_ci_high = 0;
    site.rate_bytes_per_second = 0;
    if (!site.holder && holders_[i] != nullptr) site.holder = std::move(*holders_[i]);
  }
  for (const JobProcess* process : processes) {
    for (const SiteRow& row : process->sites) {
      ReportSite& site = sites[row.site];
      site.rate_bytes_per_step += row.rate_bytes_per_step;
      site.rate_objects_per_step += row.rate_objects_per_step;
      site.rate_ci_low += row.rate_ci_low;
      site.rate_ci_high += row.rate_ci_high;
      site.rate_bytes_per_second += row.rate_bytes_per_second;
    }
  }
  AssignIds(sites.size(), &sites);
  for (uint32_t i = 0; i < sites.size(); ++i) leaders_.push_back(LeaderOf(sites, i));
  JoinLeaks(processes.size(), leaders_, &sites);
  return sites;
}

}  // namespace vramtrack
