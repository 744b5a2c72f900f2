// SPDX-License-Identifier: Apache-2.0
//
// What a process did in windows of steps, site by site, as integer sums. Comparisons, summaries and the tables of
// windows are made from it. Plain data. The profile in a summary depends on the run alone. For a comparison of a trace
// its windows are the compared blocks of steps.
#ifndef ANALYZER_PROFILE_STEP_PROFILE_H_
#define ANALYZER_PROFILE_STEP_PROFILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/model/report.h"
#include "analyzer/profile/block_sizes.h"
#include "analyzer/profile/canonical_frame.h"

namespace vramtrack {

// Which steps are compared, and how they are grouped. Steps are indices.
struct StepWindow {
  uint32_t begin = 0, end = 0;  // the tested steps, after warm-up: [begin, end)
  bool whole_run = true;        // whether peaks are those of the whole run, or of the steps before `end`
  uint32_t per_unit = 1;        // steps that count as one unit, if the other run's steps are longer
  uint32_t blocks = 0;
  uint32_t granule = 1;      // units that must share a block, as a summary does not distinguish them
  uint32_t block_steps = 0;  // steps of each block; 0: all blocks are equally large

  static constexpr uint32_t kBlocks = 24;  // enough for a test at 1 % with many sites

  // Returns the step at which a block begins; for the index after the last block, where that one ends. Only without
  // block_steps.
  uint32_t BeginOf(uint32_t block) const {
    const uint64_t granules = units() / granule;
    return begin + static_cast<uint32_t>((block * granules + blocks - 1) / blocks) * granule * per_unit;
  }
  uint32_t units() const { return (end - begin) / per_unit; }
  // Returns the block that a step belongs to; `blocks` for a step in no block.
  uint32_t BlockOf(uint32_t step) const {
    if (step < begin || step >= begin + units() * per_unit) return blocks;
    if (block_steps != 0) return (step - begin) / block_steps;
    return static_cast<uint32_t>(uint64_t{step - begin} / per_unit / granule * blocks / (units() / granule));
  }
};

// What a site did in one window of complete steps. Values are bytes, or objects if the name does not say bytes.
struct SiteWindow {
  uint64_t births = 0, born_bytes = 0, deaths = 0, died_bytes = 0;
  // What of the window's births is live after the last complete step.
  uint64_t survivors = 0, survivor_bytes = 0;
  // Sums over the window's steps of the bytes that the site has live when a step ends, of those at the device's peak
  // of the step, and of the most that one thread has live in the step.
  uint64_t live = 0, at_peak = 0, own = 0;
  uint64_t at_high = 0;   // bytes live at the device's peak in the window
  uint64_t own_most = 0;  // most bytes that one thread has live in the window
  uint64_t made = 0;      // steps in which the site's allocation makes the device's peak
};

// From step 0 on.
struct SiteWindows {
  std::vector<SiteWindow> sums;  // one for each window; empty if all are 0

  SiteWindow At(size_t window) const { return window < sums.size() ? sums[window] : SiteWindow(); }
};

// The growth rate of a site that leaks.
struct ProfileRate : Growth {
  double objects_per_step = 0;

  // Adds a rate whose unit is `scale` times this one's.
  void Add(const ProfileRate& other, double scale) {
    bytes_per_step += other.bytes_per_step * scale;
    ci_low += other.ci_low * scale;
    ci_high += other.ci_high * scale;
    objects_per_step += other.objects_per_step * scale;
  }
};

// Sites of the ledger that look the same to a reader, as one.
struct ProfileSite {
  uint32_t kind = 0;               // schema::Kind
  std::optional<uint32_t> device;  // none for the host
  uint32_t number = 0;             // in the order in which sites first allocated; events refer to it
  std::string category;
  std::string verdict;    // the worst of their verdicts, as in the report
  bool unjudged = false;  // there were too few steps for a verdict
  // A framework divides its allocations into blocks, so it is chance in which call the allocator makes them.
  bool segments = false;
  std::vector<ReportFrame> frames;  // most recent call first

  // How the site allocates. This distinguishes sites whose frames have the same names.
  double births_per_active_step = 0;  // allocations in a step that has any
  double bytes_per_birth = 0;
  double lifetime_steps = 0;   // the longest lifetime that has ended
  double phase = 0;            // when it first allocated, among all sites: 0 to 1
  double births_per_step = 0;  // over the whole run
  bool recurring = false;      // it allocates in many steps, not only at first

  std::optional<ProfileRate> rate;  // only of a leak
  std::optional<uint64_t> leak;     // index of StepProfile::leaks

  uint64_t bytes_allocated = 0;  // in the whole run, including the part after its last complete step
  // Totals of the run, or of its compared part.
  uint64_t bytes_at_peak = 0, own_peak = 0;  // own_peak: the most that one thread had live
  bool several_threads = false;              // several threads had memory of it live at the same time
  BlockSizes sizes;                          // of the large blocks of a framework's allocator

  // number of allocations and frees, and the sum of their hashes, which does not depend on their order
  uint64_t events = 0, event_sum = 0;
  SiteWindows windows;

  // A summary has none of these.
  std::vector<SiteIndex> sites;  // of the ledger
  // Set by ReadFrames(): one for each frame; and the lines, or offsets in the module if there are no lines, from the
  // outermost frame on. Sites with the same canonical frames are ordered by this.
  std::vector<CanonicalFrame> canonical;
  std::vector<uint64_t> position;
  uint32_t device_ordinal = 0;  // index among the devices of all sites; UINT32_MAX for the host
};

// A leak, which may have several sites.
struct ProfileLeak {
  std::vector<uint64_t> leading;       // the sites that lead it: indices of StepProfile::sites
  std::optional<uint64_t> call_frame;  // frame of the leading site: the one call that leads to all sites of the leak
};

// The levels of a device or of the host in some steps.
struct DeviceBin {
  // Sums over steps: bytes live at each step's peak, and bytes reserved but not live at that moment.
  uint64_t peak = 0, fragmentation = 0;
  uint64_t highest = 0;           // the highest of the steps' peaks
  uint64_t reserved_highest = 0;  // the most bytes reserved
  uint64_t at_highest = 0;        // bytes reserved but not live at the highest peak
  uint64_t floor = 0;             // the fewest bytes live; UINT64_MAX if unknown
  uint64_t peak_sum = 0;          // sum of the hashes of the peaks; almost certainly different if one peak is
  uint64_t concurrent = 0;        // steps in which several threads have memory of one site live
};

// The bins are finer than windows: each window has a whole number of them.
struct ProfileDevice {
  std::optional<uint32_t> index;  // none for the host
  uint64_t run_peak = 0, run_reserved_peak = 0, run_fragmentation = 0;
  uint64_t peak_step = 0;
  uint64_t steps_in_bin = 1;  // a power of two
  std::vector<DeviceBin> bins;
};

// The steps of a window.
struct WindowSteps {
  uint64_t first = 0, last = 0;  // by the job's own numbers
  // Step values: their sum, and the number of steps that have one.
  double mark_sum = 0;
  uint64_t marks = 0;
};

struct StepProfile {
  static constexpr uint64_t kMostWindows = 128;
  static constexpr size_t kMostSites = 5000;

  uint64_t steps = 0, warmup_end = 0;  // number of complete steps; the first step after warm-up
  uint64_t steps_in_window = 1;        // a power of two
  std::vector<WindowSteps> window_steps;
  // Bytes allocated in a window, if windows replace steps; 0: they are steps.
  uint64_t window_bytes = 0;
  CodeRoots roots;
  std::vector<ProfileSite> sites;  // the most important sites, by number
  uint64_t other_sites = 0;        // number of sites that are left out
  std::vector<ProfileLeak> leaks;
  std::vector<ProfileDevice> devices;  // by index, the host last
  // The order of all allocations and frees.
  bool ordered = false;  // whether the order is known
  uint64_t events = 0, event_hash = 0;
  uint64_t sites_hash = 0;  // hash of all sites in their order

  // Only for a trace that is compared: its windows are these blocks, and the totals of sites and devices cover the
  // compared part of the run. A summary has none.
  std::optional<StepWindow> blocks;

  // Returns the number of windows.
  size_t windows() const {
    return blocks ? blocks->blocks : static_cast<size_t>((steps + steps_in_window - 1) / steps_in_window);
  }
  // Returns the step at which a window begins.
  uint64_t BeginOf(size_t window) const {
    return blocks ? blocks->BeginOf(static_cast<uint32_t>(window)) : window * steps_in_window;
  }
  uint64_t EndOf(size_t window) const { return blocks ? BeginOf(window + 1) : std::min(BeginOf(window + 1), steps); }
};

// Computes the canonical frames, positions and device ordinals of the sites.
void ReadFrames(StepProfile* profile);

// Keeps the `most` most important sites: leaks first, then by bytes allocated.
void KeepSites(size_t most, StepProfile* profile);

// Merges windows in pairs until there are at most `windows` (a power of two), and keeps `sites` sites. Reducing in two
// steps gives the same result as in one.
void Reduce(size_t windows, size_t sites, StepProfile* profile);

// Throws std::runtime_error if the numbers cannot be those of a run. Comparisons rely on this check, as a summary may
// come from an untrusted source.
void CheckProfile(const StepProfile& profile);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_STEP_PROFILE_H_
