// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_SITE_SELECTION_H_
#define ANALYZER_FINDINGS_SITE_SELECTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/leaks/cohort.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Sites that look the same to a reader: several stacks in one, as return addresses differ where lines do not.
struct SiteGroup {
  std::vector<uint32_t> sites;  // the one with the largest rate first, then by bytes at the peak
  std::vector<ReportFrame> frames;
};

// What makes stacks of one kind on one device one site: equal for sites that look the same to a reader.
std::string GroupKey(const SiteKey& key, const std::vector<ReportFrame>& frames);

// The sites to report: all leaks, all holders of failed allocations, and of the others the `top` of each level that
// hold most at the peak; the segments of a framework's allocator have a `top` of their own. Leaks first. `verdicts`:
// one for each site of the ledger.
std::vector<SiteGroup> SelectSites(const Ledger& ledger, const std::vector<LeakVerdict>& verdicts, size_t top,
                                   StackSymbolizer* symbolizer);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_SITE_SELECTION_H_
