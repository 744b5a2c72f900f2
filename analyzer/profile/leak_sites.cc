// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/leak_sites.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/findings/leaks/leak_groups.h"

namespace vramtrack {

LeakSites FindLeakSites(ProcessAnalysis* analysis, const std::vector<DiffSite>& sites, const LeakOrder& order) {
  LeakSites found;
  std::map<size_t, size_t> leak_of_group;  // by index into ProcessAnalysis::groups()
  std::map<size_t, size_t> led_by;
  for (const LeakGroup& group : LeakGrouping(analysis).Finish(order)) {
    const size_t leak = found.leaks.size();
    leak_of_group[group.leader] = led_by[group.leader] = leak;
    for (const size_t part : group.parts) leak_of_group[part] = leak;
    found.leaks.push_back({{}, group.call_frame});
  }
  found.leak_of_site.resize(sites.size());
  for (size_t i = 0; i < sites.size(); ++i) {
    for (const uint32_t site : sites[i].sites) {
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

std::unique_ptr<Ledger> ReplayAgain(const ProcessAnalysis& analysis, std::vector<ReplayObserver*> observers) {
  LedgerOptions options = analysis.replay_options();
  options.observers = std::move(observers);
  auto ledger = std::make_unique<Ledger>(analysis.trace(), analysis.plan(), options);
  ledger->Replay();
  return ledger;
}

}  // namespace vramtrack
