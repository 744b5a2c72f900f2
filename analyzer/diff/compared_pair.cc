// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/compared_pair.h"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "analyzer/diff/device_comparison.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

SiteEvidence TakeEvidenceOf(const ComparedProcess& side, const std::vector<size_t>& members, size_t match,
                            ProcessProfile* profile) {
  SiteEvidence evidence;
  evidence.present = !members.empty();
  evidence.series = std::move(profile->series[match]);
  evidence.totals = profile->totals[match];
  evidence.sizes = &profile->sizes[match];
  const double scale = profile->window.per_unit * side.facts().rate_scale;
  for (const size_t i : members) {
    const DiffSite& site = side.sites()[i];
    evidence.judged &= !site.unjudged;
    if (!site.leaks) continue;
    evidence.leak = true;
    evidence.rate.rate += site.left.bytes * scale;
    evidence.rate.low += site.left.low * scale;
    evidence.rate.high += site.left.high * scale;
    evidence.objects_per_step += site.left.objects * scale;
  }
  return evidence;
}

const DeviceSeries* DeviceOf(const ComparedProcess& side, const std::vector<size_t>& members,
                             const ProcessProfile& profile) {
  if (members.empty()) return nullptr;
  const auto found = profile.devices.find(side.sites()[members[0]].device);
  return found == profile.devices.end() ? nullptr : &found->second;
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
  const uint64_t old = runs[0]->facts().steps.window_bytes, now = runs[1]->facts().steps.window_bytes;
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
    // Before a report is made beside: what that finds of sizes must not change what a comparison says.
    pair->CategoryOf(match);
  }
  DoBoth(
      pair->threads, [&] { pair->base_profile = pair->base.Measure(base, pair->windows.base, pair->next); },
      [&] { pair->next_profile = pair->next.Measure(next, pair->windows.next, pair->base); });
}

std::vector<SitePair> TakeEvidence(ComparedPair* pair) {
  const std::vector<SiteMatch>& matches = pair->matches();
  std::vector<SitePair> pairs;
  for (size_t m = 0; m < matches.size(); ++m) {
    const SiteMatch& match = matches[m];
    SitePair one;
    one.base = TakeEvidenceOf(pair->base, match.base, m, &pair->base_profile);
    one.next = TakeEvidenceOf(pair->next, match.next, m, &pair->next_profile);
    one.handle = LevelOf(pair->SiteOf(match).kind) == Level::kHandle;
    const DeviceSeries* old = DeviceOf(pair->base, match.base, pair->base_profile);
    const DeviceSeries* now = DeviceOf(pair->next, match.next, pair->next_profile);
    if (old != nullptr && now != nullptr) {
      one.in_step = pair->windows.base.per_unit == pair->windows.next.per_unit && InStep(*old, *now);
      const bool same_maker = old->maker == now->maker && old->maker != DeviceSeries::kNoMaker;
      one.same_peak = same_maker && !one.base.totals.several_threads && !one.next.totals.several_threads;
    }
    pairs.push_back(std::move(one));
  }
  return pairs;
}

}  // namespace vramtrack
