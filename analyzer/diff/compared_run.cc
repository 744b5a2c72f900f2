// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/compared_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "analyzer/findings/rate_units.h"

namespace vramtrack {

void ComparedRun::Profile(const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*which,
                          const StepWindow& window) {
  const auto rest = static_cast<uint32_t>(matches.size());  // sites that were too many
  match_of_site.assign(analysis.ledger().sites().size(), rest);
  for (uint32_t m = 0; m < rest; ++m) {
    for (const size_t i : matches[m].*which) {
      for (const uint32_t site : sites[i].sites) match_of_site[site] = m;
    }
  }
  profile = std::make_unique<RunProfile>(match_of_site, size_t{rest} + 1, window, trace.framework_devices() != 0);
  order = std::make_unique<LeakOrder>(LeakingSites(analysis), analysis.run().steps);
  const std::unique_ptr<Ledger> ledger = ReplayWith({profile.get(), order.get()});
  profile->Finish();
  leaks = LeakGrouping(&analysis).Finish(*order);
  for (size_t i = 0; i < leaks.size(); ++i) {
    leak_of_group[leaks[i].leader] = i;
    for (const size_t part : leaks[i].parts) leak_of_group[part] = i;
  }
}

std::unique_ptr<Ledger> ComparedRun::ReplayWith(std::vector<ReplayObserver*> observers) const {
  LedgerOptions options = analysis.replay_options();
  options.histories = options.timeline = false;
  options.observers = std::move(observers);
  auto ledger = std::make_unique<Ledger>(trace, analysis.plan(), options);
  ledger->Replay();
  return ledger;
}

std::vector<ReportFrame> ComparedRun::Frames(uint32_t site) {
  return analysis.symbolizer().Frames(analysis.ledger().sites()[site].key.stack);
}

double ComparedRun::rate_scale() const {
  const StepPlan& plan = analysis.plan();
  return plan.has_windows() ? kRateBytes / static_cast<double>(plan.window_bytes) : 1;
}

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

std::array<std::unique_ptr<ComparedRun>, 2> MakeComparedRuns(const Trace& base, const Trace& next,
                                                             AnalyzeOptions* options) {
  std::array<std::unique_ptr<ComparedRun>, 2> runs;
  const auto make = [options](const Trace& trace) { return std::make_unique<ComparedRun>(trace, *options); };
  DoBoth(
      options->threads, [&] { runs[0] = make(base); }, [&] { runs[1] = make(next); });
  const StepPlan &old = runs[0]->analysis.plan(), &now = runs[1]->analysis.plan();
  if (!old.has_windows() || !now.has_windows() || old.window_bytes == now.window_bytes) return runs;
  // The smaller ones: of large ones the run that allocates less would have too few.
  const bool base_is_larger = old.window_bytes > now.window_bytes;
  options->window_bytes = std::min(old.window_bytes, now.window_bytes);
  runs[base_is_larger ? 0 : 1] = make(base_is_larger ? base : next);
  return runs;
}

}  // namespace vramtrack
