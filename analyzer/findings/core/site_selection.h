// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_SITE_SELECTION_H_
#define ANALYZER_FINDINGS_CORE_SITE_SELECTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/leaks/cohort.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"

namespace vramtrack {

using SiteVerdicts = IndexedVector<SiteIndex, LeakVerdict>;
// Of each site the first one that looks the same.
using SameSites = IndexedVector<SiteIndex, SiteIndex>;

// Sites that look the same to a reader: several stacks in one, as return addresses differ where lines do not.
struct SiteGroup {
  std::vector<SiteIndex> sites;  // the one with the largest rate first, then by bytes at the peak
  std::vector<ReportFrame> frames;
};

// All sites of a ledger, each in exactly one group. What is counted and summed is all of them; what is reported, and
// has frames, is some.
struct SiteGroups {
  // All leaks, all holders of failed allocations, and of the others the `top` of each level that hold most at the peak;
  // the segments of a framework's allocator have a `top` of their own. Leaks first.
  std::vector<SiteGroup> reported;
  std::vector<SiteGroup> others;  // without frames
};

// `symbolizer`: of useful stacks, so that what is counted does not depend on how much of them is shown.
SameSites SitesThatLookTheSame(const Ledger& ledger, StackSymbolizer* symbolizer);

// `same`: as SitesThatLookTheSame has it.
SiteGroups SelectSites(const Ledger& ledger, const std::vector<OutOfMemory>& failures, const SiteVerdicts& verdicts,
                       const SameSites& same, size_t top, StackSymbolizer* symbolizer);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_SITE_SELECTION_H_
