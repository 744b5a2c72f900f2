// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/joined_sites.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/job/site_id.h"
#include "analyzer/model/whole_leak.h"

namespace vramtrack {
namespace {

// What the sums of a site are made of, and its rates: of a site, of the sums, of a row.
template <class Sums>
auto SumsOf(Sums& of) {
  return std::tie(of.allocations, of.frees, of.bytes_allocated, of.live_objects, of.live_bytes, of.bytes_at_peak,
                  of.peak_without_site);
}
template <class Rates>
auto RatesOf(Rates& of) {
  return std::tie(of.rate_bytes_per_step, of.rate_objects_per_step, of.rate_ci_low, of.rate_ci_high,
                  of.rate_bytes_per_second);
}

std::pair<double, double> LeakRate(const ReportSite& site) {
  const ReportLeak whole = WholeOf(site);
  return {whole.rate_bytes_per_step, whole.rate_objects_per_step};
}

SiteRow RowOf(const ReportSite& site, ReportSiteIndex index) {
  SiteRow row;
  row.site = index;
  row.vote = IsLeak(site)                                     ? Vote::kLeak
             : site.verdict == Verdict::kInsufficientEvidence ? Vote::kNotEnough
                                                              : Vote::kNoLeak;
  row.leads = IsLeak(site) && site.part_of.is_none();
  row.per_step = site.rate_unit == RateUnit::kStep;
  RatesOf(row) = RatesOf(site);
  const ReportLeak whole = WholeOf(site);
  row.leak_bytes_per_step = whole.rate_bytes_per_step;
  row.leak_ci_low = whole.rate_ci_low;
  row.leak_ci_high = whole.rate_ci_high;
  return row;
}

// Returns the site that leads the leak of `index`; none if that is the site itself.
ReportSiteIndex LeaderOf(ReportSiteIndex index, const std::vector<ReportSite>& sites) {
  const auto next = [&sites](ReportSiteIndex site) { return sites[site.value()].part_of; };
  std::set<ReportSiteIndex> seen;
  ReportSiteIndex leader = index;
  while (!next(leader).is_none() && seen.insert(leader).second) leader = next(leader);
  if (!next(leader).is_none()) {
    // Processes contradict each other in a circle: any of it will do that does not depend on their order.
    const ReportSiteIndex first = leader;
    for (ReportSiteIndex site = next(first); site != first; site = next(site)) {
      if (sites[site.value()].id < sites[leader.value()].id) leader = site;
    }
  }
  return leader == index ? ReportSiteIndex() : leader;
}

// Makes parts refer to the sites that lead their leaks, and gives these the figures of the whole. `processes`: how many
// there are; the figures of a single one are right as they are.
void JoinLeaks(size_t processes, std::vector<ReportSite>* sites) {
  std::vector<ReportSiteIndex> leaders;
  for (uint32_t i = 0; i < sites->size(); ++i) leaders.push_back(LeaderOf(ReportSiteIndex(i), *sites));
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
    site.part_of = leaders[i];
    ReportSite& leader = site.part_of.is_none() ? site : (*sites)[site.part_of.value()];
    leader.parts += &leader != &site;
    if (!IsLeak(site)) continue;
    if (!leader.group) leader.group = ReportLeak{0, 0, 0, 0, 0, 0, leader.peak_without_site};
    if (processes == 1) continue;
    AddPart(site, &*leader.group);
  }
  for (ReportSite& site : *sites) {
    if (!site.part_of.is_none()) site.group.reset();
  }
}

}  // namespace

bool IsWorse(const ReportSite& a, const ReportSite& b) {
  const auto rank = [](const ReportSite& site) {
    if (!IsLeak(site)) return 3;
    return !site.part_of.is_none() ? 2 : site.verdict == Verdict::kMinorLeak ? 1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (rank(a) != 3 && LeakRate(a) != LeakRate(b)) return LeakRate(a) > LeakRate(b);
  // Of two that tell the same, the one with a line to go to.
  const bool own = OwnFrame(a.frames).has_value();
  if (rank(a) != 3 && own != OwnFrame(b.frames).has_value()) return own;
  if (a.bytes_at_peak != b.bytes_at_peak) return a.bytes_at_peak > b.bytes_at_peak;
  return a.id < b.id;
}

ReportSiteIndex JoinedSites::IndexOf(const JobProcess& process, const ReportSite& site) {
  std::vector<ReportSiteIndex>& alike = by_hash_[PlaceHash(site)];
  uint32_t place = place_count_;
  for (const ReportSiteIndex index : alike) {
    if (!IsSamePlace(joined_[index].worst, site)) continue;
    if (joined_[index].worst.device == site.device) return index;
    place = places_[index];
  }
  place_count_ += place == place_count_;
  places_.push_back(place);
  alike.push_back(joined_.next_index());
  joined_.emplace_back();
  joined_.back().worst = site;
  joined_.back().worst_of = &process;
  return alike.back();
}

std::vector<SiteRow> JoinedSites::Add(const JobProcess& process, std::vector<ReportSite> sites) {
  std::vector<SiteRow> rows;
  rows.reserve(sites.size());
  for (const ReportSite& site : sites) {
    const ReportSiteIndex index = IndexOf(process, site);
    rows.push_back(RowOf(site, index));
    Joined& joined = joined_[index];
    Sums& sums = joined.sums;
    sums.allocations += site.allocations;
    sums.frees += site.frees;
    sums.bytes_allocated += site.bytes_allocated;
    sums.live_objects += site.live_objects;
    sums.live_bytes += site.live_bytes;
    sums.bytes_at_peak += site.bytes_at_peak;
    sums.peak_without_site = std::max(sums.peak_without_site, site.peak_without_site);
    if (site.holder && (joined.holder_of == nullptr || IsBefore(process, *joined.holder_of))) {
      joined.holder = std::make_unique<ReportHolder>(*site.holder);
      joined.holder_of = &process;
    }
  }
  for (size_t i = 0; i < sites.size(); ++i) {
    Joined& joined = joined_[rows[i].site];
    // A new site is already there, with the index that its leader has in the process.
    const bool first = joined.worst_of == &process || IsBefore(process, *joined.worst_of);
    if (!IsWorse(sites[i], joined.worst) && (!first || IsWorse(joined.worst, sites[i]))) continue;
    joined.worst = std::move(sites[i]);
    ReportSiteIndex& leader = joined.worst.part_of;
    if (!leader.is_none()) leader = rows[leader.value()].site;
    joined.worst_of = &process;
  }
  return rows;
}

std::vector<ReportSite> JoinedSites::Finish(const std::vector<const JobProcess*>& processes) {
  std::vector<ReportSite> sites;
  for (Joined& joined : joined_) {
    ReportSite& site = sites.emplace_back(std::move(joined.worst));
    SumsOf(site) = SumsOf(joined.sums);
    RatesOf(site) = std::make_tuple(0, 0, 0, 0, 0);
    if (!site.holder && joined.holder != nullptr) site.holder = std::move(*joined.holder);
  }
  for (const JobProcess* process : processes) {
    for (const SiteRow& row : process->sites) {
      ReportSite& site = sites[row.site.value()];
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
