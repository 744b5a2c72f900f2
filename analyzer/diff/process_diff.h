// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_PROCESS_DIFF_H_
#define ANALYZER_DIFF_PROCESS_DIFF_H_

#include "analyzer/diff/compared_process.h"
#include "analyzer/diff/diff.h"
#include "analyzer/diff/site_ids.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// One process of a job, compared with its counterpart. The sites of findings are keys of `base_sites` and `new_sites`,
// until those of all processes are joined.
struct ProcessDiff {
  DiffReport report;
  DiffSiteIds base_sites, new_sites;
};
ProcessDiff CompareProcesses(ComparedProcess* base, ComparedProcess* next, const DiffOptions& options);
ProcessDiff CompareProcesses(const Trace& base, const Trace& next, const DiffOptions& options);

// The report on runs of one process each.
DiffReport Named(ProcessDiff diff);

// Adds what was found in one more process of a job. The same change at the same place of several processes becomes one,
// with the sum of their values; of a device number that several use, the one that holds most is described.
void JoinDiffs(DiffReport one, DiffReport* job);

// Leaks first, then the largest change.
void SortFindings(DiffReport* report);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_PROCESS_DIFF_H_
