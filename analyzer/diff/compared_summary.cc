// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/compared_summary.h"

#include <algorithm>
#include <utility>

#include "analyzer/diff/compared_trace.h"
#include "analyzer/diff/profile_blocks.h"
#include "analyzer/findings/core/rate_units.h"
#include "analyzer/ledger/site_table.h"
#include "analyzer/profile/make_step_profile.h"

namespace vramtrack {
namespace {

ProcessFacts FactsOf(const std::string& path, const ProcessFindings& findings, const StepProfile& profile) {
  ProcessFacts facts;
  facts.path = path;
  facts.process = findings.process;
  facts.steps = findings.steps;
  facts.run.steps = static_cast<Step>(profile.steps);
  facts.run.warmup_end = static_cast<Step>(profile.warmup_end);
  facts.run.windows = profile.window_bytes != 0;
  if (profile.window_bytes != 0) facts.rate_scale = kRateBytes / static_cast<double>(profile.window_bytes);
  for (const ReportSite& site : findings.sites) {
    ReportSite named;
    named.level = site.level;
    named.kind = site.kind;
    named.device = site.device;
    named.frames = site.frames;
    facts.reported.push_back(std::move(named));
  }
  return facts;
}

std::vector<DiffSite> SitesOf(const StepProfile& profile) {
  const CodeRoots roots = {profile.executable, profile.working_directory, profile.script_directory};
  std::vector<uint32_t> devices;
  for (const ProfileSite& site : profile.sites) {
    if (site.device) devices.push_back(*site.device);
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  std::vector<DiffSite> sites;
  for (const ProfileSite& known : profile.sites) {
    DiffSite site;
    site.kind = known.kind;
    site.device = site.device_ordinal = known.device.value_or(SiteKey::kHost);
    if (known.device) {
      const auto at = std::lower_bound(devices.begin(), devices.end(), *known.device);
      site.device_ordinal = static_cast<uint32_t>(at - devices.begin());
    }
    site.segments = known.segments;
    site.frames = known.frames;
    ReadFrames(roots, &site);
    site.shape = {known.births_per_active_step, known.bytes_per_birth, known.lifetime_steps, known.phase,
                  known.recurring};
    site.births_per_step = known.births_per_step;
    site.bytes_allocated = known.bytes_allocated;
    site.unjudged = known.unjudged;
    if (known.rate) {
      site.leaks = true;
      site.left = {known.rate->bytes_per_step, known.rate->low, known.rate->high, known.rate->objects_per_step};
    }
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace

ComparedSummary::ComparedSummary(ProcessFacts facts, StepProfile profile) : profile_(std::move(profile)) {
  facts_ = std::move(facts);
  facts_.steps_in_window = static_cast<uint32_t>(profile_.steps_in_window);
  sites_ = SitesOf(profile_);
  for (const ProfileLeak& leak : profile_.leaks) {
    DiffLeak known;
    known.leading.assign(leak.leading.begin(), leak.leading.end());
    if (leak.call_frame) known.call_frame = static_cast<size_t>(*leak.call_frame);
    leaks_.leaks.push_back(std::move(known));
  }
  for (const ProfileSite& site : profile_.sites) leaks_.leak_of_site.push_back(site.leak);
}

ComparedSummary::ComparedSummary(const std::string& path, const ProcessFindings& findings, StepProfile profile)
    : ComparedSummary(FactsOf(path, findings, profile), std::move(profile)) {}

ComparedSummary::ComparedSummary(ProcessAnalysis* analysis)
    : ComparedSummary(FactsOfTrace(*analysis), MakeStepProfile(analysis)) {}

ProcessProfile ComparedSummary::Profile(const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*which,
                                        const StepWindow& window) {
  std::vector<std::vector<size_t>> members;
  for (const SiteMatch& match : matches) members.push_back(match.*which);
  return BlocksOf(profile_, members, window);
}

}  // namespace vramtrack
