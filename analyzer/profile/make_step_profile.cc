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
#include "analyzer/findings/leaks/leak_findings.h"
#include "analyzer/profile/canonical_frame.h"
#include "analyzer/profile/diff_site.h"
#include "analyzer/profile/event_digest.h"
#include "analyzer/profile/leak_sites.h"
#include "analyzer/profile/run_profile.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMostBins = 2048;

// The smallest power of two of which so many are enough.
uint64_t WidthFor(uint64_t steps, uint64_t most) {
  uint64_t width = 1;
  while ((steps + width - 1) / width > most) width *= 2;
  return width;
}

std::optional<uint32_t> DeviceOf(uint32_t device) {
  return device == SiteKey::kHost ? std::nullopt : std::optional<uint32_t>(device);
}

uint64_t HashOf(const std::vector<DiffSite>& sites) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&hash](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  };
  for (const DiffSite& site : sites) {
    add(absl::StrCat(site.kind, "|", site.device));
    for (const ReportFrame& frame : site.frames) {
      add(absl::StrCat("|", frame.function, "|", frame.file, "|", frame.line, "|", frame.module, "|", frame.offset));
    }
    add("\n");
  }
  return hash;
}

// A few bits are enough: of ten steps nine must have the same peak.
uint64_t MixOf(uint64_t peak) { return (peak * 0x9e3779b97f4a7c15) >> 48; }

class ProfileMaker {
 public:
  explicit ProfileMaker(ProcessAnalysis* analysis)
      : analysis_(*analysis), ledger_(analysis->ledger()), sites_(CollectSites(analysis)) {
    profile_.steps = analysis_.run().steps;
    profile_.warmup_end = analysis_.run().warmup_end;
    profile_.steps_in_window = WidthFor(profile_.steps, StepProfile::kMostWindows);
    for (uint64_t step = 0; step < profile_.steps; step += profile_.steps_in_window) {
      const uint64_t last = std::min(step + profile_.steps_in_window, profile_.steps) - 1;
      profile_.first_steps.push_back(analysis_.run().NumberOf(static_cast<Step>(step)));
      profile_.last_steps.push_back(analysis_.run().NumberOf(static_cast<Step>(last)));
    }
    if (analysis_.plan().has_windows()) profile_.window_bytes = analysis_.plan().window_bytes;
    const CodeRoots roots = RootsOf(analysis_.trace().definitions().process);
    profile_.executable = roots.executable;
    profile_.working_directory = roots.working_directory;
    profile_.script_directory = roots.script_directory;
    profile_.sites_hash = HashOf(sites_);
  }

  StepProfile Make() {
    Choose();
    const auto kept = static_cast<uint32_t>(kept_.size()), all = static_cast<uint32_t>(sites_.size());
    StepWindow window;
    window.end = static_cast<uint32_t>(profile_.steps);
    window.blocks = static_cast<uint32_t>(profile_.windows());
    window.block_steps = static_cast<uint32_t>(profile_.steps_in_window);
    RunProfile run(Numbering(/*kept=*/true), size_t{kept} + 1, window, analysis_.trace().framework_devices() != 0,
                   /*sums=*/true);
    EventDigest events(Numbering(/*kept=*/false), size_t{all} + 1);
    LeakOrder order(LeakingSites(analysis_), analysis_.run().steps);
    const std::unique_ptr<Ledger> ledger = ReplayAgain(analysis_, {&run, &events, &order});
    run.Finish();
    const StepSums sums = run.TakeSums();
    const ProcessProfile totals = run.Take();
    profile_.ordered = analysis_.trace().past() == nullptr;
    profile_.events = events.sequence().count();
    profile_.event_hash = events.sequence().hash();
    profile_.mark_sum = sums.mark_sums;
    profile_.marks = sums.marks;
    const LeakSites leaks = FindLeakSites(&analysis_, sites_, order);
    for (uint32_t i = 0; i < kept; ++i) {
      ProfileSite site = Describe(kept_[i]);
      if (const auto leak = leaks.leak_of_site[kept_[i]]) site.leak = *leak;
      AddTotals(totals, i, &site);
      site.events = events.site(site.number).count;
      site.event_sum = events.site(site.number).sum;
      site.windows = WindowsOf(sums, i);
      AddSurvivors(sites_[kept_[i]], &site.windows);
      profile_.sites.push_back(std::move(site));
    }
    AddLeaks(leaks);
    AddDevices(sums, totals);
    for (ProfileSite& site : profile_.sites) DropZeros(&site.windows);
    return std::move(profile_);
  }

 private:
  void Choose() {
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

  // By site of the ledger. Those that are left out have the number behind all others.
  std::vector<uint32_t> Numbering(bool kept) const {
    const size_t count = kept ? kept_.size() : sites_.size();
    std::vector<uint32_t> numbers(ledger_.sites().size(), static_cast<uint32_t>(count));
    for (uint32_t i = 0; i < count; ++i) {
      for (const uint32_t site : sites_[kept ? kept_[i] : i].sites) numbers[site] = i;
    }
    return numbers;
  }

  ProfileSite Describe(size_t number) {
    const DiffSite& known = sites_[number];
    ProfileSite site;
    site.kind = known.kind;
    site.device = DeviceOf(known.device);
    site.number = static_cast<uint32_t>(number);
    site.category = analysis_.Category(known.sites[0]);
    const std::vector<LeakVerdict>& verdicts = analysis_.verdicts();
    const auto leaking = std::find_if(known.sites.begin(), known.sites.end(),
                                      [&](uint32_t one) { return IsLeak(verdicts[one].verdict); });
    site.verdict = ToString(verdicts[leaking == known.sites.end() ? known.sites[0] : *leaking].verdict);
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
    return site;
  }

  void AddTotals(const ProcessProfile& totals, uint32_t index, ProfileSite* site) const {
    const SiteTotals& of_run = totals.totals[index];
    site->allocations = of_run.allocations;
    // Of short-lived objects of the past of a trace of bounded size only the ledger knows.
    site->bytes_allocated = sites_[kept_[index]].bytes_allocated;
    site->bytes_at_peak = of_run.bytes_at_peak;
    site->own_peak = of_run.own_peak;
    site->live_bytes = of_run.live_bytes;
    site->several_threads = of_run.several_threads;
    for (const BlockSizes::Size& size : totals.sizes[index].sizes()) {
      site->sizes.push_back({size.bytes, size.count, size.exact});
    }
    site->many_sizes = totals.sizes[index].many();
    if (site->many_sizes) site->sizes.clear();
  }

  SiteWindows WindowsOf(const StepSums& sums, uint32_t index) const {
    SiteWindows windows;
    const size_t count = profile_.windows();
    for (size_t i = index * count; i < (index + 1) * count; ++i) {
      const BlockSums& block = sums.blocks[i];
      const MoreBlockSums& more = sums.more[i];
      windows.births.push_back(block.births);
      windows.born_bytes.push_back(block.bytes);
      windows.deaths.push_back(more.deaths);
      windows.died_bytes.push_back(more.died_bytes);
      windows.live.push_back(block.live);
      windows.at_peak.push_back(block.at_peak);
      windows.own.push_back(block.own);
      windows.at_high.push_back(more.at_high);
      windows.own_most.push_back(more.own_most);
    }
    windows.survivors.resize(count);
    windows.survivor_bytes.resize(count);
    windows.made.resize(count);
    return windows;
  }

  size_t WindowOf(size_t step) const { return step / profile_.steps_in_window; }

  void AddSurvivors(const DiffSite& site, SiteWindows* windows) const {
    for (const uint32_t one : site.sites) {
      const SiteHistory history = analysis_.histories().history(one);
      for (const Cohort& cohort : history.cohorts) {
        const size_t window = WindowOf(cohort.step);
        if (window >= windows->survivors.size()) continue;
        windows->survivors[window] += cohort.live_objects;
        windows->survivor_bytes[window] += cohort.live_bytes;
      }
    }
  }

  void AddLeaks(const LeakSites& leaks) {
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

  void AddDevices(const StepSums& sums, const ProcessProfile& totals) {
    for (const auto& [device, steps] : sums.devices) {
      const DeviceSeries& of_run = totals.devices.at(device);
      ProfileDevice to;
      to.index = DeviceOf(device);
      to.run_peak = of_run.run_peak;
      to.run_reserved_peak = of_run.run_reserved_peak;
      to.run_fragmentation = of_run.run_fragmentation;
      to.peak_step = of_run.peak_step;
      to.steps_in_bin = WidthFor(profile_.steps, kMostBins);
      AddBins(steps, &to);
      for (size_t step = 0; step < steps.makers.size(); ++step) {
        if (steps.makers[step] < kept_.size()) ++profile_.sites[steps.makers[step]].windows.made[WindowOf(step)];
      }
      profile_.devices.push_back(std::move(to));
    }
  }

  static void AddBins(const DeviceSteps& steps, ProfileDevice* to) {
    const size_t count = steps.peaks.size(), bins = (count + to->steps_in_bin - 1) / to->steps_in_bin;
    for (WindowSums* column : {&to->peak, &to->fragmentation, &to->highest, &to->reserved_highest, &to->at_highest,
                               &to->peak_sum, &to->concurrent}) {
      column->resize(bins);
    }
    to->floor.resize(bins, UINT64_MAX);
    for (size_t step = 0; step < count; ++step) {
      const size_t bin = step / to->steps_in_bin;
      to->peak[bin] += steps.peaks[step];
      to->fragmentation[bin] += steps.fragmentations[step];
      if (step % to->steps_in_bin == 0 || steps.peaks[step] > to->highest[bin]) {
        to->highest[bin] = steps.peaks[step];
        to->at_highest[bin] = steps.fragmentations[step];
      }
      to->reserved_highest[bin] = std::max(to->reserved_highest[bin], steps.reserved[step]);
      if (step < steps.floors.size()) to->floor[bin] = std::min(to->floor[bin], steps.floors[step]);
      to->peak_sum[bin] += MixOf(steps.peaks[step]);
      to->concurrent[bin] += steps.concurrent[step];
    }
  }

  static void DropZeros(SiteWindows* windows) {
    for (WindowSums* column : {&windows->births, &windows->born_bytes, &windows->deaths, &windows->died_bytes,
                               &windows->survivors, &windows->survivor_bytes, &windows->live, &windows->at_peak,
                               &windows->own, &windows->at_high, &windows->own_most, &windows->made}) {
      if (std::all_of(column->begin(), column->end(), [](uint64_t value) { return value == 0; })) column->clear();
      column->shrink_to_fit();
    }
  }

  ProcessAnalysis& analysis_;
  const Ledger& ledger_;  // of the first replay
  const std::vector<DiffSite> sites_;
  std::vector<size_t> kept_;  // indices of sites_, ascending
  StepProfile profile_;
};

}  // namespace

StepProfile MakeStepProfile(ProcessAnalysis* analysis) { return ProfileMaker(analysis).Make(); }

}  // namespace vramtrack
