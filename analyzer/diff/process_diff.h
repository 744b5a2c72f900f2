// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_PROCESS_DIFF_H_
#define ANALYZER_DIFF_PROCESS_DIFF_H_

#include "analyzer/diff/compared_process.h"
#include "analyzer/diff/diff.h"
#include "analyzer/diff/site_ids.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// The comparison of one process of a job with its counterpart. The sites of findings are keys of `base_sites` and
// `new_sites` until those of all processes are joined.
struct ProcessDiff {
  DiffReport report;
  DiffSiteIds base_sites, new_sites;
};
ProcessDiff CompareProcesses(ComparedProcess* base, ComparedProcess* next, const DiffOptions& options);
ProcessDiff CompareProcesses(const Trace& base, const Trace& next, const DiffOptions& options);

// Returns the report about runs with one process each.
DiffReport Named(ProcessDiff diff);

// Adds the findings about one more process of a job. The same change at the same place in several processes becomes one
// finding, with the sum of their values. If several processes use a device number, the one that holds most is
// described.
void JoinDiffs(DiffReport one, DiffReport* job);

// Sorts findings: leaks first, then by the size of the change.
void SortFindings(DiffReport* report);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_PROCESS_DIFF_H_
