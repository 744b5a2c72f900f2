// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/make_step_profile.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/leaks/leak_groups.h"

namespace vramtrack {
namespace {

constexpr double kRecurringShare = 0.1;  // of the steps
constexpr uint64_t kBinsToMake = 2048;

// The smallest power of two of which so many are enough.
uint64_t WidthFor(uint64_t steps, uint64_t most) {
  uint64_t width = 1;
  while ((steps + width - 1) / width > most) width *= 2;
  return width;
}

// The sites that look the same to a reader, in the order in which they first allocated. Of too many, those that
// allocated most.
std::vector<std::vector<SiteIndex>> ChosenSites(const ProcessAnalysis& analysis) {
  std::vector<std::vector<SiteIndex>> chosen;
  for (const std::vector<SiteGroup>* groups : {&analysis.groups(), &analysis.other_groups()}) {
    for (const SiteGroup& group : *groups) {
      chosen.push_back(group.sites);
      std::sort(chosen.back().begin(), chosen.back().end());
    }
  }
  std::sort(chosen.begin(), chosen.end());
  if (chosen.size() <= kMaxProfileSites) return chosen;
  const auto bytes = [&analysis](const std::vector<SiteIndex>& group) {
    uint64_t sum = 0;
    for (const SiteIndex site : group) sum += analysis.ledger().sites()[site].bytes_allocated;
    return sum;
  };
  std::stable_sort(chosen.begin(), chosen.end(), [&](const auto& a, const auto& b) { return bytes(a) > bytes(b); });
  chosen.resize(kMaxProfileSites);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

void AddVerdict(const SiteVerdict& verdict, ProfileSite* site) {
  site->unjudged |= verdict.verdict == Verdict::kInsufficientEvidence;
  const bool is_first = site->verdict.empty();
  if (!IsLeak(verdict.verdict)) {
    if (is_first) site->verdict = NameOf(verdict.verdict);
    return;
  }
  if (!site->rate) {
    site->verdict = NameOf(verdict.verdict);
    site->rate.emplace();
  }
  site->rate->Add(
      {{verdict.rate_bytes_per_step, verdict.rate_ci_low, verdict.rate_ci_high}, verdict.rate_objects_per_step}, 1);
}

// How the site allocates, and its verdict.
void DescribeSite(const ProcessAnalysis& analysis, ProfileSite* site) {
  const Ledger& ledger = analysis.ledger();
  uint64_t births = 0, complete_births = 0, active_steps = 0;
  for (const SiteIndex index : site->sites) {
    const Site& known = ledger.sites()[index];
    const SiteHistory history = analysis.histories().history(index);
    births += known.allocations;
    complete_births += history.born_objects;
    active_steps = std::max<uint64_t>(active_steps, history.birth_steps);
    site->lifetime_steps = std::max<double>(site->lifetime_steps, history.max_completed_lifetime_steps);
    site->bytes_allocated += known.bytes_allocated;
    site->segments |= IsSegmentSite(known);
    AddVerdict(analysis.verdicts()[index], site);
  }
  const uint32_t steps = ledger.steps().step();
  site->births_per_active_step = static_cast<double>(births) / static_cast<double>(std::max<uint64_t>(active_steps, 1));
  site->bytes_per_birth = births == 0 ? 0 : static_cast<double>(site->bytes_allocated) / static_cast<double>(births);
  site->phase = static_cast<double>(site->sites[0].value()) / static_cast<double>(ledger.sites().size());
  site->births_per_step = static_cast<double>(complete_births) / std::max(1u, steps);
  site->recurring = steps > 0 && static_cast<double>(active_steps) > kRecurringShare * steps;
}

// Finds the leaks and their sites.
void AddLeaks(ProcessAnalysis* analysis, StepProfile* profile) {
  std::map<size_t, uint64_t> leak_of_group, led_by;  // by index into ProcessAnalysis::groups()
  for (const LeakGroup& group : FindLeaks(analysis)) {
    const uint64_t leak = profile->leaks.size();
    leak_of_group[group.leader] = led_by[group.leader] = leak;
    for (const size_t part : group.parts) leak_of_group[part] = leak;
    profile->leaks.push_back({{}, group.call_frame});
  }
  for (size_t i = 0; i < profile->sites.size(); ++i) {
    ProfileSite& site = profile->sites[i];
    for (const SiteIndex index : site.sites) {
      const size_t group = analysis->GroupOf(index);
      if (const auto led = led_by.find(group); led != led_by.end()) {
        std::vector<uint64_t>& leading = profile->leaks[led->second].leading;
        if (leading.empty() || leading.back() != i) leading.push_back(i);
      }
      if (site.leak || !IsLeak(analysis->verdicts()[index].verdict)) continue;
      if (const auto leak = leak_of_group.find(group); leak != leak_of_group.end()) site.leak = leak->second;
    }
  }
}

// A hash of all sites in their order. Processes with the same hash number their events alike.
uint64_t HashOfSites(const std::vector<ProfileSite>& sites) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&hash](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  };
  for (const ProfileSite& site : sites) {
    add(absl::StrCat(site.kind, "|", site.device.value_or(kHost.value())));
    for (const ReportFrame& frame : site.frames) {
      add(absl::StrCat("|", frame.function, "|", frame.file, "|", frame.line, "|", frame.module, "|", frame.offset));
    }
    add("\n");
  }
  return hash;
}

}  // namespace

StepProfile DescribeRun(ProcessAnalysis* analysis) {
  const Sites& sites = analysis->ledger().sites();
  const RunShape& run = analysis->run();
  StepProfile profile;
  profile.steps = run.steps;
  profile.warmup_end = run.warmup_end;
  if (analysis->plan().has_windows()) profile.window_bytes = analysis->plan().window_bytes;
  profile.roots = RootsOf(analysis->trace().definitions().process);
  profile.other_sites = sites.size();
  for (std::vector<SiteIndex>& same : ChosenSites(*analysis)) {
    const SiteKey& key = sites[same[0]].key;
    profile.other_sites -= same.size();
    ProfileSite site;
    site.kind = key.kind;
    site.device = NumberOf(key.device);
    site.number = static_cast<uint32_t>(profile.sites.size());
    site.frames = analysis->symbolizer().Frames(key.stack);
    site.sites = std::move(same);
    profile.sites.push_back(std::move(site));
  }
  for (ProfileSite& site : profile.sites) DescribeSite(*analysis, &site);
  return profile;
}

SiteRows RowsOf(const StepProfile& profile, const std::vector<std::vector<size_t>>* members, size_t ledger_sites) {
  SiteRows rows;
  rows.count = static_cast<uint32_t>(members == nullptr ? profile.sites.size() : members->size());
  rows.of_site.assign(ledger_sites, rows.count);
  const auto add = [&](size_t site, uint32_t row) {
    for (const SiteIndex index : profile.sites[site].sites) rows.of_site[index] = row;
  };
  for (uint32_t row = 0; row < rows.count; ++row) {
    if (members == nullptr) add(row, row);
    if (members == nullptr) continue;
    for (const size_t member : (*members)[row]) add(member, row);
  }
  return rows;
}

ProfileMaker::ProfileMaker(ProcessAnalysis* analysis, StepProfile* profile)
    : ProfileMaker(analysis, nullptr, WidthFor(profile->steps, kBinsToMake), profile) {
  profile_.steps_in_window = WidthFor(profile_.steps, StepProfile::kMostWindows);
  const RunShape& run = analysis_.run();
  for (size_t i = 0; i < profile_.windows(); ++i) {
    WindowSteps steps;
    steps.first = run.NumberOf(static_cast<Step>(profile_.BeginOf(i)));
    steps.last = run.NumberOf(static_cast<Step>(profile_.EndOf(i) - 1));
    profile_.window_steps.push_back(steps);
  }
  KeepSites(StepProfile::kMostSites, &profile_);
}

ProfileMaker::ProfileMaker(ProcessAnalysis* analysis, const std::vector<std::vector<size_t>>* matches,
                           uint64_t steps_in_bin, StepProfile* profile)
    : analysis_(*analysis),
      profile_(*profile),
      steps_in_bin_(steps_in_bin),
      numbered_by_site_(matches == nullptr),
      digest_(RowsOf(*profile, matches, analysis->ledger().sites().size())) {
  if (numbered_by_site_) profile_.sites_hash = HashOfSites(profile_.sites);
}

void ProfileMaker::Prepare(Replay* detail) {
  StepWindow window;
  window.end = static_cast<uint32_t>(profile_.steps);
  window.blocks = static_cast<uint32_t>(profile_.windows());
  window.block_steps = static_cast<uint32_t>(profile_.steps_in_window);
  meter_.emplace(RowsOf(profile_, nullptr, analysis_.ledger().sites().size()), profile_.blocks.value_or(window),
                 steps_in_bin_, analysis_.trace().framework_devices() != 0, &profile_);
  detail->observers.insert(detail->observers.end(), {&*meter_, &digest_});
}

void ProfileMaker::Describe(const Replay& /*replay*/, ProcessFindings* /*findings*/) {
  meter_.reset();
  profile_.ordered = analysis_.trace().past() == nullptr;
  profile_.events = digest_.sequence().count();
  profile_.event_hash = digest_.sequence().hash();
  AddLeaks(&analysis_, &profile_);
  for (ProfileSite& site : profile_.sites) {
    if (numbered_by_site_) {
      site.events = digest_.row(site.number).count;
      site.event_sum = digest_.row(site.number).sum;
    }
    if (!profile_.blocks) AddRun(&site);
  }
}

// What is known only together with the findings of a report, or only of whole runs.
void ProfileMaker::AddRun(ProfileSite* site) const {
  site->category = analysis_.Category(site->sites[0]);
  for (const SiteIndex index : site->sites) {
    for (const Cohort& cohort : analysis_.histories().history(index).cohorts) {
      const size_t window = cohort.step / profile_.steps_in_window;
      if (window >= profile_.windows() || cohort.live_objects == 0) continue;
      site->windows.sums.resize(profile_.windows());
      site->windows.sums[window].survivors += cohort.live_objects;
      site->windows.sums[window].survivor_bytes += cohort.live_bytes;
    }
  }
}

StepProfile MakeStepProfile(ProcessAnalysis* analysis) {
  StepProfile profile = DescribeRun(analysis);
  ProfileMaker maker(analysis, &profile);
  ProcessFindings none;
  Collect(analysis, {&maker}, &none);
  return profile;
}

}  // namespace vramtrack
