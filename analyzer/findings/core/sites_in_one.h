// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_SITES_IN_ONE_H_
#define ANALYZER_FINDINGS_CORE_SITES_IN_ONE_H_

#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/site_selection.h"
#include "analyzer/leaks/cohort.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/site_histories.h"

namespace vramtrack {

// Sites that look the same to a reader (a line that is reached through other native frames, a library that was loaded
// again elsewhere) of which two at least keep something: by itself each of them has holes that the others fill. `same`:
// as SitesThatLookTheSame has it.
std::vector<std::vector<SiteIndex>> SitesInOne(const SiteHistories& histories, const Ledger& ledger,
                                               const SameSites& same, const SiteVerdicts& verdicts);

// Gives the verdict on all of `together` to each of them, with its own share of the rates: they add up to those of the
// verdict.
void ShareVerdict(const SiteHistories& histories, const Ledger& ledger, const std::vector<SiteIndex>& together,
                  const LeakVerdict& verdict, SiteVerdicts* verdicts);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_SITES_IN_ONE_H_
