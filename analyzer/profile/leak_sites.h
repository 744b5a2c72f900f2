// SPDX-License-Identifier: Apache-2.0
//
// Which of the sites that are compared belong to one leak.
#ifndef ANALYZER_PROFILE_LEAK_SITES_H_
#define ANALYZER_PROFILE_LEAK_SITES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/findings/leaks/leak_order.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/profile/diff_site.h"

namespace vramtrack {

// A leak and its sites, by index into all sites that are compared.
struct DiffLeak {
  std::vector<size_t> leading;       // which look the same to a reader
  std::optional<size_t> call_frame;  // of these: the one call that leads to all sites of the leak
};

struct LeakSites {
  std::vector<DiffLeak> leaks;
  std::vector<std::optional<size_t>> leak_of_site;  // none: it does not leak
};

// `order`: has followed a replay, for LeakingSites() of `analysis`.
LeakSites FindLeakSites(ProcessAnalysis* analysis, const std::vector<DiffSite>& sites, const LeakOrder& order);

// A replay once more, followed by `observers`.
std::unique_ptr<Ledger> ReplayAgain(const ProcessAnalysis& analysis, std::vector<ReplayObserver*> observers);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_LEAK_SITES_H_
