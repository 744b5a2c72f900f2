// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/compared_pair.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/diff/device_comparison.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

const DeviceSeries* DeviceOf(const ComparedProcess& side, const std::vector<size_t>& members, const MeasuredRun& run) {
  if (members.empty()) return nullptr;
  const auto found = run.devices.find(side.sites()[members[0]].device);
  return found == run.devices.end() ? nullptr : &found->second;
}

// Moves the evidence out of the pair's runs.
SitePair TakeEvidence(size_t match_index, ComparedPair* pair) {
  const SiteMatch& match = pair->matches()[match_index];
  SitePair one;
  one.base = std::move(pair->base_run.sites[match_index]);
  one.next = std::move(pair->next_run.sites[match_index]);
  one.handle = pair->HoldsNoMemory(match);
  const DeviceSeries* old = DeviceOf(pair->base, match.base, pair->base_run);
  const DeviceSeries* now = DeviceOf(pair->next, match.next, pair->next_run);
  if (old == nullptr || now == nullptr) return one;
  one.in_step = pair->windows.base.per_unit == pair->windows.next.per_unit && InStep(*old, *now);
  const bool same_maker = old->maker == now->maker && old->maker != DeviceSeries::kNoMaker;
  one.same_peak = same_maker && !one.base.several_threads && !one.next.several_threads;
  return one;
}

}  // namespace

void DoBoth(size_t threads, const std::function<void()>& base, const std::function<void()>& next) {
  if (threads == 1) {
    base();
    next();
    return;
  }
  std::thread other(base);
  next();
  other.join();
}

std::array<std::unique_ptr<ComparedProcess>, 2> OpenBoth(const Trace& base, const Trace& next,
                                                         AnalyzeOptions* options) {
  std::array<std::unique_ptr<ComparedProcess>, 2> runs;
  const auto open = [options](const Trace& trace) { return std::make_unique<ComparedProcess>(trace, *options); };
  DoBoth(
      options->threads, [&] { runs[0] = open(base); }, [&] { runs[1] = open(next); });
  const uint64_t old = runs[0]->profile().window_bytes, now = runs[1]->profile().window_bytes;
  if (old == 0 || now == 0 || old == now) return runs;
  // The smaller ones: of large ones the run that allocates less would have too few.
  options->window_bytes = std::min(old, now);
  runs[old > now ? 0 : 1] = open(old > now ? base : next);
  return runs;
}

void MeasureSteps(ComparedPair* pair) {
  pair->windows = CompareSteps(pair->base, pair->next, pair->matches());
  std::vector<std::vector<size_t>> base, next;
  for (const SiteMatch& match : pair->matches()) {
    base.push_back(match.base);
    next.push_back(match.next);
    // Before a report is made: what that finds of sizes must not change what a comparison says.
    match.next.empty() ? pair->base.FindCategory(match.base[0]) : pair->next.FindCategory(match.next[0]);
  }
  DoBoth(
      pair->threads, [&] { pair->base_run = pair->base.Measure(base, pair->windows.base, pair->next); },
      [&] { pair->next_run = pair->next.Measure(next, pair->windows.next, pair->base); });
  for (size_t m = 0; m < pair->matches().size(); ++m) pair->evidence.push_back(TakeEvidence(m, pair));
}

namespace {

constexpr double kNearlyAll = 0.8;
constexpr size_t kFewestSites = 3;
constexpr double kWhole = 0.05;  // how far from a whole number
constexpr int kMostPerUnit = 1024;

// How many steps of the new run make one of the base: 4, or -4 where it is the other way round; 1 if they are alike.
int StepRatio(const std::vector<ProfileSite>& base, const std::vector<ProfileSite>& next,
              const std::vector<SiteMatch>& matches) {
  std::map<int, size_t> ratios;
  size_t recurring = 0;
  for (const SiteMatch& match : matches) {
    if (match.base.size() != 1 || match.next.size() != 1) continue;
    const ProfileSite &old = base[match.base[0]], &now = next[match.next[0]];
    if (!old.recurring || !now.recurring) continue;
    ++recurring;
    const double ratio = old.births_per_step / now.births_per_step;
    const double whole = std::round(std::max(ratio, 1 / ratio));
    if (whole < 1 || whole > kMostPerUnit || std::fabs(std::max(ratio, 1 / ratio) / whole - 1) > kWhole) continue;
    ++ratios[whole == 1 ? 1 : ratio > 1 ? static_cast<int>(whole) : -static_cast<int>(whole)];
  }
  for (const auto& [ratio, sites] : ratios) {
    if (sites >= kFewestSites && static_cast<double>(sites) >= kNearlyAll * static_cast<double>(recurring)) {
      return ratio;
    }
  }
  return 1;
}

uint32_t RoundUp(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

// So many units have whole windows of the process's steps.
uint32_t UnitsTogether(const ComparedProcess& process, uint32_t per_unit) {
  return std::lcm(static_cast<uint32_t>(process.profile().steps_in_window), per_unit) / per_unit;
}

}  // namespace

StepWindows CompareSteps(const ComparedProcess& base_process, const ComparedProcess& next_process,
                         const std::vector<SiteMatch>& matches) {
  const StepProfile &base = base_process.profile(), &next = next_process.profile();
  StepWindows windows;
  const int ratio = StepRatio(base_process.sites(), next_process.sites(), matches);
  windows.next.per_unit = ratio > 1 ? static_cast<uint32_t>(ratio) : 1;
  windows.base.per_unit = ratio < -1 ? static_cast<uint32_t>(-ratio) : 1;
  const auto units_of = [](const StepProfile& run, uint32_t per_unit) {
    return static_cast<uint32_t>(run.steps) / per_unit;
  };
  const uint32_t base_units = units_of(base, windows.base.per_unit), next_units = units_of(next, windows.next.per_unit);
  const uint32_t units = std::min(base_units, next_units);
  const auto warm = [](const StepProfile& run, uint32_t per_unit) {
    return (static_cast<uint32_t>(run.warmup_end) + per_unit - 1) / per_unit;
  };
  // A longer run has a longer warm-up by rule; of the shared part only so much is wanted.
  const uint32_t granule =
      std::lcm(UnitsTogether(base_process, windows.base.per_unit), UnitsTogether(next_process, windows.next.per_unit));
  const uint32_t end = units / granule * granule;
  const uint32_t begin =
      std::min(RoundUp(std::max(warm(base, windows.base.per_unit), warm(next, windows.next.per_unit)), granule), end);
  for (StepWindow* window : {&windows.base, &windows.next}) {
    window->begin = begin * window->per_unit;
    window->end = end * window->per_unit;
    window->whole_run = base_units == next_units;
    window->granule = granule;
    window->blocks = std::min(StepWindow::kBlocks, (end - begin) / granule);
  }
  if (ratio != 1) {
    windows.normaliser = absl::StrCat(std::abs(ratio), " steps of ", ratio > 1 ? "the new run" : "the base",
                                      " are taken as one: nearly all sites allocate ", std::abs(ratio),
                                      " times as often in a step of the other");
  }
  if (base_units != next_units) {
    absl::StrAppend(&windows.normaliser, windows.normaliser.empty() ? "" : "; ", "the first ", units,
                    " steps of both are compared, as the base has ", base.steps, " and the new run ", next.steps);
  }
  return windows;
}

}  // namespace vramtrack
