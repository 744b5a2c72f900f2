// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/diff_site.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/leaks/leak_groups.h"

namespace vramtrack {
namespace {

constexpr double kAlike = 0.05;          // of a doubling: about 3.5 %
constexpr double kRecurringShare = 0.1;  // of the steps

// In doublings.
double LogRatio(double a, double b) {
  const double distance = std::fabs(std::log2((a + 1) / (b + 1)));
  return distance < kAlike ? 0 : distance;
}

std::string SameToReader(const SiteKey& key, const std::vector<ReportFrame>& frames) {
  std::string text = absl::StrCat(key.kind, "|", key.device.value());
  for (const ReportFrame& frame : frames) {
    absl::StrAppend(&text, "|", frame.function, "|", frame.file, "|", frame.line);
    if (frame.line == 0) absl::StrAppend(&text, "|", frame.module, "|", frame.offset);
  }
  return text;
}

std::map<DeviceIndex, uint32_t> DeviceOrdinals(const Ledger& ledger) {
  std::set<DeviceIndex> devices;
  for (const Site& site : ledger.sites()) {
    if (site.key.device != kHost) devices.insert(site.key.device);
  }
  std::map<DeviceIndex, uint32_t> ordinals = {{kHost, kHost.value()}};
  for (const DeviceIndex device : devices) ordinals.emplace(device, static_cast<uint32_t>(ordinals.size() - 1));
  return ordinals;
}

SiteShape ShapeOf(const ProcessAnalysis& analysis, const std::vector<SiteIndex>& sites) {
  const Ledger& ledger = analysis.ledger();
  SiteShape shape;
  uint64_t births = 0, bytes = 0, active_steps = 0;
  SiteIndex first;
  for (const SiteIndex index : sites) {
    const Site& site = ledger.sites()[index];
    const SiteHistory history = analysis.histories().history(index);
    births += site.allocations;
    bytes += site.bytes_allocated;
    active_steps = std::max<uint64_t>(active_steps, history.birth_steps);
    shape.lifetime_steps = std::max<double>(shape.lifetime_steps, history.max_completed_lifetime_steps);
    first = std::min(first, index);
  }
  const double steps = ledger.steps().step();
  shape.births = static_cast<double>(births) / static_cast<double>(std::max<uint64_t>(active_steps, 1));
  shape.bytes_per_birth = births == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(births);
  shape.phase = static_cast<double>(first.value()) / static_cast<double>(ledger.sites().size());
  shape.recurring = steps > 0 && static_cast<double>(active_steps) > kRecurringShare * steps;
  return shape;
}

void AddVerdict(const SiteVerdict& verdict, DiffSite* site) {
  site->unjudged |= verdict.verdict == Verdict::kInsufficientEvidence;
  if (!IsLeak(verdict.verdict)) return;
  site->leaks = true;
  site->left.bytes += verdict.rate_bytes_per_step;
  site->left.low += verdict.rate_ci_low;
  site->left.high += verdict.rate_ci_high;
  site->left.objects += verdict.rate_objects_per_step;
}

}  // namespace

double ShapeDistance(const SiteShape& a, const SiteShape& b) {
  return LogRatio(a.births, b.births) + LogRatio(a.bytes_per_birth, b.bytes_per_birth) +
         LogRatio(a.lifetime_steps, b.lifetime_steps) / 2 + (a.recurring != b.recurring ? 1 : 0);
}

void ReadFrames(const CodeRoots& roots, DiffSite* site) {
  for (const ReportFrame& frame : site->frames) site->canonical.push_back(Canonical(frame, roots));
  for (auto frame = site->frames.rbegin(); frame != site->frames.rend(); ++frame) {
    site->position.push_back(frame->line != 0 ? frame->line : frame->offset);
  }
}

std::vector<DiffSite> CollectSites(ProcessAnalysis* analysis) {
  const Ledger& ledger = analysis->ledger();
  const Sites& sites = ledger.sites();
  std::vector<SiteIndex> chosen;
  for (const SiteIndex site : sites.indices()) chosen.push_back(site);
  if (chosen.size() > kMaxDiffSites) {
    std::sort(chosen.begin(), chosen.end(), [&](SiteIndex a, SiteIndex b) {
      if (sites[a].bytes_allocated != sites[b].bytes_allocated) {
        return sites[a].bytes_allocated > sites[b].bytes_allocated;
      }
      return a < b;
    });
    chosen.resize(kMaxDiffSites);
    std::sort(chosen.begin(), chosen.end());
  }
  const std::map<DeviceIndex, uint32_t> ordinals = DeviceOrdinals(ledger);
  const CodeRoots roots = RootsOf(analysis->trace().definitions().process);
  std::vector<DiffSite> units;
  std::map<std::string, size_t> by_key;
  for (const SiteIndex index : chosen) {
    const SiteKey& key = sites[index].key;
    std::vector<ReportFrame> frames = analysis->symbolizer().Frames(key.stack);
    const auto [found, is_new] = by_key.try_emplace(SameToReader(key, frames), units.size());
    if (is_new) {
      DiffSite unit;
      unit.kind = key.kind;
      unit.device = key.device;
      unit.device_ordinal = ordinals.at(key.device);
      unit.frames = std::move(frames);
      ReadFrames(roots, &unit);
      units.push_back(std::move(unit));
    }
    units[found->second].sites.push_back(index);
  }
  for (DiffSite& unit : units) {
    unit.shape = ShapeOf(*analysis, unit.sites);
    unit.segments =
        std::any_of(unit.sites.begin(), unit.sites.end(), [&](SiteIndex site) { return IsSegmentSite(sites[site]); });
    for (const SiteIndex site : unit.sites) {
      unit.births_per_step += static_cast<double>(analysis->histories().history(site).born_objects);
      unit.bytes_allocated += sites[site].bytes_allocated;
      AddVerdict(analysis->verdicts()[site], &unit);
    }
    unit.births_per_step /= std::max(1u, ledger.steps().step());
  }
  return units;
}

std::vector<std::vector<size_t>> Singles(size_t count) {
  std::vector<std::vector<size_t>> singles;
  for (size_t i = 0; i < count; ++i) singles.push_back({i});
  return singles;
}

SiteRows RowsOf(const std::vector<DiffSite>& sites, const std::vector<std::vector<size_t>>& members,
                size_t ledger_sites) {
  SiteRows rows;
  rows.count = static_cast<uint32_t>(members.size());
  rows.of_site.assign(ledger_sites, rows.count);
  for (uint32_t row = 0; row < rows.count; ++row) {
    for (const size_t member : members[row]) {
      for (const SiteIndex site : sites[member].sites) rows.of_site[site] = row;
    }
  }
  return rows;
}

LeakSites FindLeakSites(ProcessAnalysis* analysis, const std::vector<DiffSite>& sites) {
  LeakSites found;
  std::map<size_t, size_t> leak_of_group;  // by index into ProcessAnalysis::groups()
  std::map<size_t, size_t> led_by;
  for (const LeakGroup& group : FindLeaks(analysis)) {
    const size_t leak = found.leaks.size();
    leak_of_group[group.leader] = led_by[group.leader] = leak;
    for (const size_t part : group.parts) leak_of_group[part] = leak;
    found.leaks.push_back({{}, group.call_frame});
  }
  found.leak_of_site.resize(sites.size());
  for (size_t i = 0; i < sites.size(); ++i) {
    for (const SiteIndex site : sites[i].sites) {
      const size_t group = analysis->GroupOf(site);
      if (const auto led = led_by.find(group); led != led_by.end()) {
        std::vector<size_t>& leading = found.leaks[led->second].leading;
        if (leading.empty() || leading.back() != i) leading.push_back(i);
      }
      if (found.leak_of_site[i] || !IsLeak(analysis->verdicts()[site].verdict)) continue;
      if (const auto leak = leak_of_group.find(group); leak != leak_of_group.end()) {
        found.leak_of_site[i] = leak->second;
      }
    }
  }
  return found;
}

}  // namespace vramtrack
