// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/compared_process.h"

#include <algorithm>
#include <utility>

#include "analyzer/diff/site_ids.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/findings/core/process_description.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/ledger/site_table.h"
#include "analyzer/profile/make_step_profile.h"
#include "analyzer/profile/step_meter.h"
#include "analyzer/verdicts/facts.h"

namespace vramtrack {
namespace {

void SetWindowBytes(uint64_t bytes, ProcessFacts* facts) {
  facts->window_bytes = bytes;
  if (bytes != 0) facts->rate_scale = kRateBytes / static_cast<double>(bytes);
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
    site.device_ordinal = kHost.value();
    if (known.device) {
      site.device = DeviceIndex(*known.device);
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

RunDigest DigestOf(const StepProfile& profile) {
  RunDigest digest;
  digest.ordered = profile.ordered;
  digest.whole = profile.other_sites == 0;
  digest.events = profile.events;
  digest.hash = profile.event_hash;
  digest.sites_hash = profile.sites_hash;
  for (const ProfileSite& site : profile.sites) digest.sites.push_back({site.number, site.events, site.event_sum});
  return digest;
}

LeakSites LeaksOf(const StepProfile& profile) {
  LeakSites leaks;
  for (const ProfileLeak& leak : profile.leaks) {
    DiffLeak known;
    known.leading.assign(leak.leading.begin(), leak.leading.end());
    if (leak.call_frame) known.call_frame = static_cast<size_t>(*leak.call_frame);
    leaks.leaks.push_back(std::move(known));
  }
  for (const ProfileSite& site : profile.sites) leaks.leak_of_site.push_back(site.leak);
  return leaks;
}

// What two runs are compared by, of a trace.
class Measurement final : public Collector {
 public:
  // `events`: what they are numbered by.
  Measurement(ProcessAnalysis* analysis, const std::vector<DiffSite>& sites, const SiteRows& rows,
              const SiteRows& events, const StepWindow& window, uint64_t steps_in_bin)
      : analysis_(*analysis),
        sites_(sites),
        steps_in_bin_(steps_in_bin),
        meter_(rows, window, analysis->trace().framework_devices() != 0, StepMeter::Windows::kCompared),
        digest_(events) {
    profile.steps = window.end;
    profile.blocks = window;
  }

  const char* name() const override { return "comparison"; }
  void Prepare(Replay* detail) override { detail->observers.insert(detail->observers.end(), {&meter_, &digest_}); }
  void Describe(const Replay& /*replay*/, ProcessFindings* /*findings*/) override {
    meter_.Take(steps_in_bin_, &profile);
    leaks = FindLeakSites(&analysis_, sites_);
  }

  const EventDigest& digest() const { return digest_; }

  // After the replay.
  StepProfile profile;
  LeakSites leaks;

 private:
  ProcessAnalysis& analysis_;
  const std::vector<DiffSite>& sites_;
  const uint64_t steps_in_bin_;
  StepMeter meter_;
  EventDigest digest_;
};

}  // namespace

ProcessFacts FactsOfTrace(const ProcessAnalysis& analysis) {
  ProcessFacts facts;
  facts.path = analysis.trace().path();
  facts.process = DescribeProcess(analysis.trace(), analysis.ledger());
  facts.steps = DescribeSteps(analysis);
  facts.incomplete = WhyIncomplete(analysis.trace(), analysis.ledger());
  facts.run = analysis.run();
  if (analysis.plan().has_windows()) SetWindowBytes(analysis.plan().window_bytes, &facts);
  for (const SiteGroup& group : analysis.groups()) {
    const Site& site = analysis.ledger().sites()[group.sites[0]];
    facts.reported.push_back(NamedSite(site.key.kind, IsSegmentSite(site), site.key.device, group.frames));
  }
  return facts;
}

ProcessFacts FactsOfSummary(const std::string& path, const ProcessFindings& findings, const StepProfile& profile) {
  ProcessFacts facts;
  facts.path = path;
  facts.process = findings.process;
  facts.steps = findings.steps;
  for (const ReportReason& reason : findings.reasons) {
    if (reason.id == "incomplete") facts.incomplete = findings.process.incomplete_why;
  }
  facts.run.steps = static_cast<Step>(profile.steps);
  facts.run.warmup_end = static_cast<Step>(profile.warmup_end);
  facts.run.windows = profile.window_bytes != 0;
  SetWindowBytes(profile.window_bytes, &facts);
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

ComparedProcess::ComparedProcess(const Trace& trace, const AnalyzeOptions& options)
    : analysis_(std::make_unique<ProcessAnalysis>(trace, options)), own_windows_(options.window_bytes == 0) {
  facts_ = FactsOfTrace(*analysis_);
  sites_ = CollectSites(analysis_.get());
}

ComparedProcess::ComparedProcess(ProcessFacts facts, StepProfile profile)
    : facts_(std::move(facts)),
      sites_(SitesOf(profile)),
      leaks_(LeaksOf(profile)),
      digest_(DigestOf(profile)),
      profile_(std::move(profile)) {
  facts_.steps_in_window = static_cast<uint32_t>(profile_.steps_in_window);
  for (const ProfileDevice& device : profile_.devices) {
    facts_.steps_in_bin = std::max(facts_.steps_in_bin, static_cast<uint32_t>(device.steps_in_bin));
  }
}

const std::string& ComparedProcess::Category(size_t site) {
  if (!has_trace()) return profile_.sites[site].category;
  const auto [found, is_new] = categories_.try_emplace(site);
  if (is_new) found->second = analysis_->Category(sites_[site].sites[0]);
  return found->second;
}

ProcessProfile ComparedProcess::Measure(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                                        const ComparedProcess& other) {
  if (!has_trace()) return BlocksOf(profile_, members, window);
  return BlocksOf(MeasureTrace(members, window, other), Singles(members.size()), window);
}

StepProfile ComparedProcess::MeasureTrace(const std::vector<std::vector<size_t>>& members, const StepWindow& window,
                                          const ComparedProcess& other) {
  const size_t ledger_sites = analysis_->ledger().sites().size();
  rows_ = RowsOf(sites_, members, ledger_sites);
  // A summary knows nothing of matches.
  const SiteRows events = other.has_trace() ? rows_ : RowsOf(sites_, Singles(sites_.size()), ledger_sites);
  const uint32_t bin = other.facts().steps_in_bin;
  const bool fits = window.begin % bin == 0 && window.granule * window.per_unit % bin == 0;
  Measurement measured(analysis_.get(), sites_, rows_, events, window, fits ? bin : 1);
  if (WantsFindings()) {
    analysis_->options().known->Add(facts_.path, FindInAnalysis(analysis_.get(), &measured));
    told_ = true;
  } else {
    ProcessFindings none;
    Collect(analysis_.get(), {&measured}, &none);
  }
  leaks_ = std::move(measured.leaks);
  for (size_t row = 0; row < members.size(); ++row) {
    if (members[row].empty()) continue;
    const DeviceIndex device = sites_[members[row][0]].device;
    if (device != kHost) measured.profile.sites[row].device = device.value();
  }
  sequence_ = measured.digest().sequence();
  if (other.has_trace()) return std::move(measured.profile);
  digest_.ordered = is_ordered();
  digest_.whole = ledger_sites <= kMaxDiffSites;
  digest_.events = sequence_.count();
  digest_.hash = sequence_.hash();
  digest_.sites_hash = HashOfSites(sites_);
  for (uint32_t i = 0; i < sites_.size(); ++i) {
    const EventDigest::RowEvents& site = measured.digest().row(i);
    digest_.sites.push_back({i, site.count, site.sum});
  }
  return std::move(measured.profile);
}

bool ComparedProcess::WantsFindings() const {
  if (!has_trace() || !own_windows_ || told_) return false;
  const KnownFindings* known = analysis_->options().known;
  return known != nullptr && known->Wants(facts_.path);
}

void ComparedProcess::TellFindings() {
  if (!WantsFindings()) return;
  analysis_->options().known->Add(facts_.path, FindInAnalysis(analysis_.get()));
  told_ = true;
}

std::vector<SequenceEvent> ComparedProcess::Part(uint64_t begin, uint64_t end) const {
  SequencePart part(rows_, begin, end);
  Replay replay;
  replay.observers = {&part};
  MakeReplay(Pass::kDivergence, analysis_.get(), &replay);
  return part.events();
}

std::vector<ReportFrame> ComparedProcess::FramesOf(SiteIndex site) const {
  return analysis_->symbolizer().Frames(analysis_->ledger().sites()[site].key.stack);
}

}  // namespace vramtrack
