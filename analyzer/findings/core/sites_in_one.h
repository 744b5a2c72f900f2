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

// Returns sets of sites that look the same to a reader, of which at least two keep something: for example, a line that
// is reached through different native frames, or a library that was loaded again elsewhere. Each site has gaps that
// the others fill, so they are judged together. `same`: the result of SitesThatLookTheSame.
std::vector<std::vector<SiteIndex>> SitesInOne(const SiteHistories& histories, const Ledger& ledger,
                                               const SameSites& same, const SiteVerdicts& verdicts);

// Gives the verdict on `together` as a whole to each of its sites, with the site's own share of the rates: the shares
// add up to the rates of the verdict.
void ShareVerdict(const SiteHistories& histories, const Ledger& ledger, const std::vector<SiteIndex>& together,
                  const LeakVerdict& verdict, SiteVerdicts* verdicts);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_SITES_IN_ONE_H_
