// SPDX-License-Identifier: Apache-2.0
//
// What is matched between two runs: the sites of one process that look the same to a reader, and which of them belong
// to one leak.
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
#include "analyzer/findings/leaks/leak_order.h"
#include "analyzer/model/report.h"
#include "analyzer/profile/canonical_frame.h"

namespace vramtrack {

// How a site allocates, for telling apart sites that the names of their frames do not.
struct SiteShape {
  double births = 0;  // in a step that has any
  double bytes_per_birth = 0;
  double lifetime_steps = 0;  // the longest completed one
  double phase = 0;           // 0 to 1: when it first allocated, among all sites
  bool recurring = false;     // in many steps, not only at first
};

// 0: alike; 1 would be twice as much of one thing. Differences of a few per cent are none.
double ShapeDistance(const SiteShape& a, const SiteShape& b);

// What a step leaves behind at sites that leak.
struct LeftBehind {
  double bytes = 0, low = 0, high = 0;  // interval of 95 %
  double objects = 0;
};

struct DiffSite {
  uint32_t kind = 0;
  DeviceIndex device;
  uint32_t device_ordinal = 0;   // of the devices that the process used; UINT32_MAX for the host
  std::vector<SiteIndex> sites;  // of the ledger; empty where the run is known by a summary
  // What it allocates is a framework's to cut up: whose call the allocator made it in is an accident.
  bool segments = false;
  std::vector<ReportFrame> frames;
  std::vector<CanonicalFrame> canonical;  // one a frame
  // Lines, or offsets in the module where there are none, from the outermost frame on: sites whose canonical frames are
  // the same follow each other in this order.
  std::vector<uint64_t> position;
  SiteShape shape;
  double births_per_step = 0;  // over the whole run
  uint64_t bytes_allocated = 0;
  bool leaks = false;     // by the verdict of any of its sites
  bool unjudged = false;  // the steps were not enough for a verdict
  LeftBehind left;        // of those that leak
};

// What follows from the frames: `canonical` and `position`.
void ReadFrames(const CodeRoots& roots, DiffSite* site);

// All sites of a process; of more than kMaxDiffSites those that allocated most.
constexpr size_t kMaxDiffSites = 50000;
std::vector<DiffSite> CollectSites(ProcessAnalysis* analysis);

// Sites put together.
struct SiteRows {
  IndexedVector<SiteIndex, uint32_t> of_site;  // its row, or `count` for a site that is in none
  uint32_t count = 0;
};

// Rows of one site each: every index below `count` by itself.
std::vector<std::vector<size_t>> Singles(size_t count);

// `members`: of each row, indices of `sites`. `ledger_sites`: how many the ledger has.
SiteRows RowsOf(const std::vector<DiffSite>& sites, const std::vector<std::vector<size_t>>& members,
                size_t ledger_sites);

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

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_DIFF_SITE_H_
