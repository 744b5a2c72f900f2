// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/joined_sites.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/site_id.h"

namespace vramtrack {
namespace {

// Of what a leak keeps as a whole.
std::pair<double, double> RateOf(const ReportSite& site) {
  if (!site.group) return {site.rate_bytes_per_step, site.rate_objects_per_step};
  return {site.group->rate_bytes_per_step, site.group->rate_objects_per_step};
}

SiteRow RowOf(const ReportSite& site, uint32_t index) {
  SiteRow row;
  row.site = index;
  row.vote = IsLeak(site) ? Vote::kLeak : site.verdict == "insufficient_evidence" ? Vote::kNotEnough : Vote::kNoLeak;
  row.leads = IsLeak(site) && site.part_of.empty();
  row.rate_bytes_per_step = site.rate_bytes_per_step;
  row.rate_ci_low = site.rate_ci_low;
  row.rate_ci_high = site.rate_ci_high;
  row.rate_objects_per_step = site.rate_objects_per_step;
  row.rate_bytes_per_second = site.rate_bytes_per_second;
  row.leak_bytes_per_step = RateOf(site).first;
  return row;
}

// The site that leads the leak of `index`: part_of holds indices until the sites have ids.
size_t LeaderOf(const std::vector<ReportSite>& sites, size_t index) {
  std::set<size_t> seen;
  while (!sites[index].part_of.empty() && seen.insert(index).second) index = std::stoul(sites[index].part_of);
  // Where processes contradict each other in a circle.
  return seen.count(index) != 0 ? *seen.begin() : index;
}

// Gives each part the id of its leader, and each leader the figures of the whole. `processes`: how many there are; the
// figures of a single one are right as they are.
void JoinLeaks(size_t processes, std::vector<ReportSite>* sites) {
  std::vector<size_t> leaders(sites->size());
  for (size_t i = 0; i < leaders.size(); ++i) leaders[i] = LeaderOf(*sites, i);
  for (ReportSite& site : *sites) {
    site.parts = 0;
    if (site.group && processes > 1) site.group = ReportLeak{0, 0, 0, 0, 0, 0, site.group->peak_without};
  }
  for (size_t i = 0; i < leaders.size(); ++i) {
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
  for (size_t i = 0; i < leaders.size(); ++i) {
    if (leaders[i] != i) (*sites)[i].group.reset();
  }
}

}  // namespace

bool IsWorse(const ReportSite& a, const ReportSite& b) {
  const auto rank = [](const ReportSite& site) {
    if (!IsLeak(site)) return 3;
    return !site.part_of.empty() ? 2 : site.verdict == "minor_leak" ? 1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (rank(a) != 3 && RateOf(a) != RateOf(b)) return RateOf(a) > RateOf(b);
  if (a.bytes_at_peak != b.bytes_at_peak) return a.bytes_at_peak > b.bytes_at_peak;
  return a.id < b.id;
}

uint32_t JoinedSites::IndexOf(const ReportSite& site) {
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
  sums_.emplace_back();
  return alike.back();
}

std::vector<SiteRow> JoinedSites::Add(std::vector<ReportSite> sites) {
  std::vector<SiteRow> rows;
  rows.reserve(sites.size());
  const size_t known = worst_.size();
  for (const ReportSite& site : sites) {
    const uint32_t index = IndexOf(site);
    rows.push_back(RowOf(site, index));
    Sums& sums = sums_[index];
    sums.allocations += site.allocations;
    sums.frees += site.frees;
    sums.bytes_allocated += site.bytes_allocated;
    sums.live_objects += site.live_objects;
    sums.live_bytes += site.live_bytes;
    sums.bytes_at_peak += site.bytes_at_peak;
    sums.peak_without_site = std::max(sums.peak_without_site, site.peak_without_site);
  }
  for (size_t i = 0; i < sites.size(); ++i) {
    if (!sites[i].part_of.empty()) sites[i].part_of = absl::StrCat(rows[std::stoul(sites[i].part_of)].site);
    ReportSite& worst = worst_[rows[i].site];
    // A new one is itself the worst; its leader has an index now.
    const bool is_new = rows[i].site >= known && !IsWorse(worst, sites[i]);
    if (is_new || IsWorse(sites[i], worst)) worst = std::move(sites[i]);
  }
  return rows;
}

std::vector<ReportSite> JoinedSites::Finish(const std::vector<JobProcess>& processes) {
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
  }
  for (const JobProcess& process : processes) {
    for (const SiteRow& row : process.sites) {
      ReportSite& site = sites[row.site];
      site.rate_bytes_per_step += row.rate_bytes_per_step;
      site.rate_objects_per_step += row.rate_objects_per_step;
      site.rate_ci_low += row.rate_ci_low;
      site.rate_ci_high += row.rate_ci_high;
      site.rate_bytes_per_second += row.rate_bytes_per_second;
    }
  }
  AssignIds(sites.size(), &sites);
  JoinLeaks(processes.size(), &sites);
  return sites;
}

}  // namespace vramtrack
