// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/make_step_profile.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/profile/canonical_frame.h"

namespace vramtrack {
namespace {

constexpr uint64_t kBinsToMake = 2048;

// The smallest power of two of which so many are enough.
uint64_t WidthFor(uint64_t steps, uint64_t most) {
  uint64_t width = 1;
  while ((steps + width - 1) / width > most) width *= 2;
  return width;
}

}  // namespace

uint64_t HashOfSites(const std::vector<DiffSite>& sites) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&hash](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  };
  for (const DiffSite& site : sites) {
    add(absl::StrCat(site.kind, "|", site.device.value()));
    for (const ReportFrame& frame : site.frames) {
      add(absl::StrCat("|", frame.function, "|", frame.file, "|", frame.line, "|", frame.module, "|", frame.offset));
    }
    add("\n");
  }
  return hash;
}

ProfileMaker::ProfileMaker(ProcessAnalysis* analysis) : analysis_(*analysis), sites_(CollectSites(analysis)) {
  const RunShape& run = analysis_.run();
  profile_.steps = run.steps;
  profile_.warmup_end = run.warmup_end;
  profile_.steps_in_window = WidthFor(profile_.steps, StepProfile::kMostWindows);
  for (size_t i = 0; i < profile_.windows(); ++i) {
    profile_.first_steps.push_back(run.NumberOf(static_cast<Step>(profile_.BeginOf(i))));
    profile_.last_steps.push_back(run.NumberOf(static_cast<Step>(profile_.EndOf(i) - 1)));
  }
  if (analysis_.plan().has_windows()) profile_.window_bytes = analysis_.plan().window_bytes;
  const CodeRoots roots = RootsOf(analysis_.trace().definitions().process);
  profile_.executable = roots.executable;
  profile_.working_directory = roots.working_directory;
  profile_.script_directory = roots.script_directory;
  profile_.sites_hash = HashOfSites(sites_);
  Choose();
}

void ProfileMaker::Choose() {
  kept_.resize(sites_.size());
  for (size_t i = 0; i < kept_.size(); ++i) kept_[i] = i;
  if (kept_.size() <= StepProfile::kMostSites) return;
  std::sort(kept_.begin(), kept_.end(), [this](size_t a, size_t b) {
    const auto key = [this](size_t i) { return std::make_tuple(!sites_[i].leaks, ~sites_[i].bytes_allocated, i); };
    return key(a) < key(b);
  });
  profile_.other_sites = kept_.size() - StepProfile::kMostSites;
  kept_.resize(StepProfile::kMostSites);
  std::sort(kept_.begin(), kept_.end());
}

void ProfileMaker::Prepare(Replay* detail) {
  StepWindow all;
  all.end = static_cast<uint32_t>(profile_.steps);
  all.blocks = static_cast<uint32_t>(profile_.windows());
  all.block_steps = static_cast<uint32_t>(profile_.steps_in_window);
  std::vector<std::vector<size_t>> kept;
  for (const size_t site : kept_) kept.push_back({site});
  const size_t count = analysis_.ledger().sites().size();
  meter_.emplace(RowsOf(sites_, kept, count), all, analysis_.trace().framework_devices() != 0,
                 StepMeter::Windows::kAll);
  digest_.emplace(RowsOf(sites_, Singles(sites_.size()), count));
  detail->observers.insert(detail->observers.end(), {&*meter_, &*digest_});
}

void ProfileMaker::Describe(const Replay& /*replay*/, ProcessFindings* /*findings*/) {
  meter_->Take(WidthFor(profile_.steps, kBinsToMake), &profile_);
  profile_.ordered = analysis_.trace().past() == nullptr;
  profile_.events = digest_->sequence().count();
  profile_.event_hash = digest_->sequence().hash();
  const LeakSites leaks = FindLeakSites(&analysis_, sites_);
  for (size_t i = 0; i < kept_.size(); ++i) {
    ProfileSite& site = profile_.sites[i];
    DescribeSite(kept_[i], &site);
    if (const auto leak = leaks.leak_of_site[kept_[i]]) site.leak = *leak;
    AddSurvivors(sites_[kept_[i]], &site.windows);
  }
  AddLeaks(leaks);
  meter_.reset();
}

void ProfileMaker::DescribeSite(size_t number, ProfileSite* to) {
  const DiffSite& known = sites_[number];
  ProfileSite& site = *to;
  site.kind = known.kind;
  site.device = NumberOf(known.device);
  site.number = static_cast<uint32_t>(number);
  site.category = analysis_.Category(known.sites[0]);
  const SiteVerdicts& verdicts = analysis_.verdicts();
  const auto leaking = std::find_if(known.sites.begin(), known.sites.end(),
                                    [&](SiteIndex one) { return IsLeak(verdicts[one].verdict); });
  site.verdict = NameOf(verdicts[leaking == known.sites.end() ? known.sites[0] : *leaking].verdict);
  site.unjudged = known.unjudged;
  site.segments = known.segments;
  site.frames = known.frames;
  site.births_per_active_step = known.shape.births;
  site.bytes_per_birth = known.shape.bytes_per_birth;
  site.lifetime_steps = known.shape.lifetime_steps;
  site.phase = known.shape.phase;
  site.recurring = known.shape.recurring;
  site.births_per_step = known.births_per_step;
  if (known.leaks) site.rate = ProfileRate{known.left.bytes, known.left.low, known.left.high, known.left.objects};
  // Of short-lived objects of the past of a trace of bounded size only the ledger knows.
  site.bytes_allocated = known.bytes_allocated;
  site.events = digest_->row(site.number).count;
  site.event_sum = digest_->row(site.number).sum;
}

void ProfileMaker::AddSurvivors(const DiffSite& site, SiteWindows* windows) const {
  windows->survivors.resize(profile_.windows());
  windows->survivor_bytes.resize(profile_.windows());
  for (const SiteIndex one : site.sites) {
    const SiteHistory history = analysis_.histories().history(one);
    for (const Cohort& cohort : history.cohorts) {
      const size_t window = cohort.step / profile_.steps_in_window;
      if (window >= windows->survivors.size()) continue;
      windows->survivors[window] += cohort.live_objects;
      windows->survivor_bytes[window] += cohort.live_bytes;
    }
  }
  for (WindowSums* column : {&windows->survivors, &windows->survivor_bytes}) {
    if (std::all_of(column->begin(), column->end(), [](uint64_t value) { return value == 0; })) column->clear();
    column->shrink_to_fit();
  }
}

void ProfileMaker::AddLeaks(const LeakSites& leaks) {
  std::map<size_t, uint64_t> index;
  for (size_t i = 0; i < kept_.size(); ++i) index[kept_[i]] = i;
  for (const DiffLeak& known : leaks.leaks) {
    ProfileLeak leak;
    for (const size_t site : known.leading) {
      if (const auto found = index.find(site); found != index.end()) leak.leading.push_back(found->second);
    }
    if (known.call_frame) leak.call_frame = *known.call_frame;
    profile_.leaks.push_back(std::move(leak));
  }
}

StepProfile MakeStepProfile(ProcessAnalysis* analysis) {
  ProfileMaker maker(analysis);
  ProcessFindings none;
  Collect(analysis, {&maker}, &none);
  return maker.Take();
}

}  // namespace vramtrack
