// SPDX-License-Identifier: Apache-2.0
//
// Describes what is matched between two runs: the sites of one process that look the same to a reader, and which of
// them belong to one leak.
#ifndef ANALYZER_PROFILE_DIFF_SITE_H_
#define ANALYZER_PROFILE_DIFF_SITE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"
#include "analyzer/profile/canonical_frame.h"

namespace vramtrack {

// How a site allocates. Distinguishes sites whose frames have the same names.
struct SiteShape {
  double births = 0;  // allocations in a step that has any
  double bytes_per_birth = 0;
  double lifetime_steps = 0;  // the longest lifetime that has ended
  double phase = 0;           // when it first allocated, among all sites: 0 to 1
  bool recurring = false;     // it allocates in many steps, not only at first
};

// Returns how different two shapes are: 0 if they are alike, 1 for twice as much of one figure. Differences of a few
// per cent count as 0.
double ShapeDistance(const SiteShape& a, const SiteShape& b);

// What one step leaves live at sites that leak.
struct LeftBehind {
  double bytes = 0, low = 0, high = 0;  // with its 95 % confidence interval
  double objects = 0;
};

struct DiffSite {
  uint32_t kind = 0;
  DeviceIndex device;
  uint32_t device_ordinal = 0;   // index among the devices that the process used; UINT32_MAX for the host
  std::vector<SiteIndex> sites;  // of the ledger; empty if the run is known only from a summary
  // A framework divides its allocations into blocks, so it is chance in which call the allocator makes them.
  bool segments = false;
  std::vector<ReportFrame> frames;
  std::vector<CanonicalFrame> canonical;  // one for each frame
  // Lines, or offsets in the module if there are no lines, from the outermost frame on. Sites with the same canonical
  // frames are ordered by this.
  std::vector<uint64_t> position;
  SiteShape shape;
  double births_per_step = 0;  // over the whole run
  uint64_t bytes_allocated = 0;
  bool leaks = false;     // one of its sites has the verdict leak
  bool unjudged = false;  // there were too few steps for a verdict
  LeftBehind left;        // only of sites that leak
};

// Computes `canonical` and `position` from the frames.
void ReadFrames(const CodeRoots& roots, DiffSite* site);

// Limit of sites of a process. If there are more, those that allocated most are kept.
constexpr size_t kMaxDiffSites = 50000;
std::vector<DiffSite> CollectSites(ProcessAnalysis* analysis);

// Rows into which sites are grouped.
struct SiteRows {
  IndexedVector<SiteIndex, uint32_t> of_site;  // the row of each site; `count` for a site in no row
  uint32_t count = 0;
};

// Returns rows of one member each: every index below `count`.
std::vector<std::vector<size_t>> Singles(size_t count);

// Returns the rows of sites. `members`: for each row, indices of `sites`. `ledger_sites`: number of sites in the
// ledger.
SiteRows RowsOf(const std::vector<DiffSite>& sites, const std::vector<std::vector<size_t>>& members,
                size_t ledger_sites);

// A leak and its sites, as indices into all compared sites.
struct DiffLeak {
  std::vector<size_t> leading;       // sites that look the same to a reader and lead the leak
  std::optional<size_t> call_frame;  // frame of these sites: the one call that leads to all sites of the leak
};

struct LeakSites {
  std::vector<DiffLeak> leaks;
  std::vector<std::optional<size_t>> leak_of_site;  // none for a site that does not leak
};

// Finds the leaks and their sites.
LeakSites FindLeakSites(ProcessAnalysis* analysis, const std::vector<DiffSite>& sites);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_DIFF_SITE_H_
