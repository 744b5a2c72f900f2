// SPDX-License-Identifier: Apache-2.0
//
// Doubts leaks that other events of the run speak against: what a loop left is made up for, freed later in turn, or was
// left by a loop that was over long before the job.
#ifndef ANALYZER_FINDINGS_CORE_ENDED_GROWTH_H_
#define ANALYZER_FINDINGS_CORE_ENDED_GROWTH_H_

#include <cstddef>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/phase_verdicts.h"
#include "analyzer/findings/core/site_groups.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/site_histories.h"
#include "analyzer/ledger/site_order.h"

namespace vramtrack {

// What the first replay has found out. Nothing is owned.
struct ReplayedRun {
  const Trace& trace;
  const Ledger& ledger;
  const SiteHistories& histories;
  const SiteOrder& order;
  const std::vector<RunPhase>& phases;                    // empty if all steps are of one kind
  const IndexedVector<SiteIndex, size_t>& phase_of_site;  // indices into `phases`
};

// Changes leaks to insufficient_evidence that no further steps will change, in these cases. Growth by replacement is
// left as it is.
//
// * The lowest level of the device rises at less than half of the rate of all its leaks, or half as many handles of the
//   set-up are destroyed: as much that is older goes meanwhile, so what stays may take its place piece by piece, and be
//   replaced in turn.
// * Half of what a site left was freed after the last step, one by one, while the job went on to allocate.
// * Only repeated allocations tell the steps, and after the last of them the job did a tenth as much work as in them or
//   went on for twenty times as long (not in Python, which may take its time to end), while the site allocated nothing:
//   a loop that loads what the job works with.
void DoubtEndedGrowth(const ReplayedRun& run, SiteVerdicts* verdicts);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_ENDED_GROWTH_H_
