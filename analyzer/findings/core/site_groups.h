// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_SITE_GROUPS_H_
#define ANALYZER_FINDINGS_CORE_SITE_GROUPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/verdicts/run_verdicts.h"

namespace vramtrack {

// For each site, the first site that looks the same.
using SameSites = IndexedVector<SiteIndex, SiteIndex>;

// Sites that look the same to a reader. Their stacks may differ in return addresses that belong to the same lines.
struct SiteGroup {
  std::vector<SiteIndex> sites;  // leaks first, by rate; then what cannot be judged; then by bytes at the peak
  std::vector<ReportFrame> frames;
};

// All sites of a ledger, each in exactly one group. All of them are counted; only the reported ones have frames.
struct SiteGroups {
  // All leaks, all live sites of failed allocations, and the `top` other sites of each level with the most bytes at
  // the peak; segments of a framework's allocator have their own `top`. Leaks first.
  std::vector<SiteGroup> reported;
  std::vector<SiteGroup> others;  // without frames
};

// Finds sites that look the same. `symbolizer` has useful frames only, so that counts do not depend on the frames
// shown.
SameSites SitesThatLookTheSame(const Ledger& ledger, StackSymbolizer* symbolizer);

// Groups the sites and selects those to report. `same`: the result of SitesThatLookTheSame.
SiteGroups SelectSites(const Ledger& ledger, const std::vector<OutOfMemory>& failures, const SiteVerdicts& verdicts,
                       const SameSites& same, size_t top, StackSymbolizer* symbolizer);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_SITE_GROUPS_H_
