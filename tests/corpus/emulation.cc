// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/emulation.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <memory>

#include "tests/corpus/flow_player.h"
#include "tests/corpus/jobs.h"

namespace vramtrack::corpus {
namespace {

// What the first steps leave is not counted: while an allocator has no blocks of the right size yet, those that it
// gives out are larger than later on.
int WarmupOf(int steps) { return std::max(5, steps / 10); }

// Rates are counted over whole periods of up to this many steps where there are any.
constexpr int kMaxPeriod = 64;

// The distance at which what was left repeats, 0 if it does not.
int PeriodOf(const std::vector<StepLeak>& leaks) {
  for (int period = 1; period <= kMaxPeriod && 2 * period <= static_cast<int>(leaks.size()); ++period) {
    bool repeats = true;
    for (size_t i = static_cast<size_t>(period); repeats && i < leaks.size(); ++i) {
      const StepLeak &one = leaks[i], &before = leaks[i - static_cast<size_t>(period)];
      repeats = one.bytes == before.bytes && one.objects == before.objects;
    }
    if (repeats) return period;
  }
  return 0;
}

// `begin`: the step from which on the site leaks.
TrueLeak TrueRate(uint32_t site, const std::map<int, StepLeak>& by_step, int begin, int steps) {
  const int from = std::min(std::max(WarmupOf(steps), begin), steps - 1);
  std::vector<StepLeak> leaks(static_cast<size_t>(steps - from));
  for (auto at = by_step.lower_bound(from); at != by_step.end(); ++at) {
    leaks[static_cast<size_t>(at->first - from)] = at->second;
  }
  TrueLeak truth;
  truth.site = site;
  const int period = PeriodOf(leaks);
  truth.exact = period > 0;
  if (period > 0) leaks.resize(leaks.size() / static_cast<size_t>(period) * static_cast<size_t>(period));
  for (const StepLeak& leak : leaks) {
    truth.bytes_per_step += leak.bytes / static_cast<double>(leaks.size());
    truth.objects_per_step += leak.objects / static_cast<double>(leaks.size());
  }
  return truth;
}

}  // namespace

double Truth::bytes_per_step() const {
  double sum = 0;
  for (const TrueLeak& leak : leaks) sum += leak.bytes_per_step;
  return sum;
}

Emulation Emulate(const JobShape& shape, const std::vector<Flow>& flows, const RunOptions& options) {
  Naming naming = options.naming;
  naming.scramble += options.seed * 1000003;
  JobStream stream(shape.training, options.marking, options.device_bytes, naming);
  FlowPlayer player(flows, &stream, options.steps, options.seed * 2654435761 + 17 + options.chance);
  const std::unique_ptr<Job> job = MakeJob(shape, &stream, &player, options.steps, options.seed * 40503 + 5);
  if (options.chance != 0) job->Reseed(options.chance);
  for (int step = 0; step < options.steps; ++step) job->Step(step);

  Emulation run;
  run.micro_steps = job->micro_steps();
  run.truth.onset = INT_MAX;
  for (const auto& [site, by_step] : player.leaked()) {
    run.truth.onset = std::min(run.truth.onset, by_step.begin()->first);
    run.truth.leaks.push_back(TrueRate(site, by_step, player.BeginOf(site), options.steps));
  }
  std::stable_sort(run.truth.leaks.begin(), run.truth.leaks.end(),
                   [](const TrueLeak& a, const TrueLeak& b) { return a.bytes_per_step > b.bytes_per_step; });
  run.sites = stream.sites();
  for (const uint32_t site : player.watched()) run.truth.watched.push_back(site);
  // What a pool of its own keeps once its blocks are freed are the segments that were taken for them.
  for (const uint32_t site : player.watched_segments()) {
    const auto segments = std::find_if(run.sites.begin(), run.sites.end(), [&](const SiteRecord& one) {
      return one.kind == schema::DEVICE && one.token == run.sites[site].token;
    });
    if (segments != run.sites.end()) {
      run.truth.watched.push_back(static_cast<uint32_t>(segments - run.sites.begin()));
    }
  }
  run.step_ends = stream.step_ends();
  run.events = stream.events();
  run.reserved_by_step = stream.reserved_by_step();
  run.trace = stream.Finish();
  return run;
}

}  // namespace vramtrack::corpus
