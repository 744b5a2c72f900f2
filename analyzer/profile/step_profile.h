// SPDX-License-Identifier: Apache-2.0
//
// What a process did in windows of steps, site by site, as integer sums. Comparisons and the tables of windows are
// made from it. Plain data. The profile in a summary depends on the run alone. A profile that is made from a trace for
// a comparison has only the windows and, in place of its sites, the matches that are compared.
#ifndef ANALYZER_PROFILE_STEP_PROFILE_H_
#define ANALYZER_PROFILE_STEP_PROFILE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/report.h"

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

// One value for each window, from step 0 on. Empty: all are 0.
using WindowSums = std::vector<uint64_t>;

// The windows of one site, over complete steps. Values are bytes, or objects if the name does not say bytes.
struct SiteWindows {
  WindowSums births, born_bytes, deaths, died_bytes;
  // What is live after the last complete step, by the window of its allocation.
  WindowSums survivors, survivor_bytes;
  // Sums over the window's steps of the bytes that the site has live when a step ends, of those at the device's peak
  // of the step, and of the most that one thread has live in the step.
  WindowSums live, at_peak, own;
  WindowSums at_high;   // bytes live at the device's peak in the window
  WindowSums own_most;  // most bytes that one thread has live in the window
  WindowSums made;      // steps in which the site's allocation makes the device's peak
};

// Blocks of a site that have the same size.
struct ProfileBlockSize {
  uint64_t bytes = 0, count = 0;
  uint64_t exact = 0;  // how many of them were requested in that size, as far as is known
};

// The growth rate of a site that leaks.
struct ProfileRate {
  double bytes_per_step = 0, low = 0, high = 0;  // with its 95 % confidence interval
  double objects_per_step = 0;
};

// Sites of the ledger that look the same to a reader, as one.
struct ProfileSite {
  uint32_t kind = 0;               // schema::Kind
  std::optional<uint32_t> device;  // none for the host
  uint32_t number = 0;             // in the order in which sites first allocated; events refer to it
  std::string category;
  std::string verdict;    // the worst of their verdicts, as in the report
  bool unjudged = false;  // there were too few steps for a verdict
  bool segments = false;
  std::vector<ReportFrame> frames;  // most recent call first
  // How the site allocates, see DiffSite.
  double births_per_active_step = 0, bytes_per_birth = 0, lifetime_steps = 0, phase = 0, births_per_step = 0;
  bool recurring = false;
  std::optional<ProfileRate> rate;  // only of a leak
  std::optional<uint64_t> leak;     // index of StepProfile::leaks

  // Totals of the whole run, including the part after its last complete step.
  uint64_t allocations = 0, bytes_allocated = 0;
  uint64_t bytes_at_peak = 0, own_peak = 0, live_bytes = 0;
  bool several_threads = false;  // several threads had memory of it live at the same time
  // Sizes of the large blocks of a framework's allocator.
  std::vector<ProfileBlockSize> sizes;
  bool many_sizes = false;  // there are too many sizes; `sizes` is not usable

  // number of allocations and frees, and the sum of their hashes, which does not depend on their order
  uint64_t events = 0, event_sum = 0;
  SiteWindows windows;
};

// A leak, which may have several sites.
struct ProfileLeak {
  std::vector<uint64_t> leading;       // indices of StepProfile::sites
  std::optional<uint64_t> call_frame;  // frame of the leading site: the one call that leads to all sites of the leak
};

// The levels of a device or of the host. The bins are finer than windows: each window has a whole number of them.
struct ProfileDevice {
  std::optional<uint32_t> index;  // none for the host
  uint64_t run_peak = 0, run_reserved_peak = 0, run_fragmentation = 0;
  uint64_t peak_step = 0;
  uint64_t steps_in_bin = 1;  // a power of two
  // One value for each bin. The first two are sums over steps: bytes live at each step's peak, and bytes reserved but
  // not live at that moment.
  WindowSums peak, fragmentation;
  WindowSums highest;           // the highest of the steps' peaks
  WindowSums reserved_highest;  // the most bytes reserved
  WindowSums at_highest;        // bytes reserved but not live at the highest peak
  WindowSums floor;             // the fewest bytes live
  WindowSums peak_sum;          // sum of the hashes of the peaks; almost certainly different if one peak is
  WindowSums concurrent;        // steps in which several threads have memory of one site live
};

struct StepProfile {
  static constexpr uint64_t kMostWindows = 128;
  static constexpr size_t kMostSites = 5000;

  uint64_t steps = 0, warmup_end = 0;  // number of complete steps; the first step after warm-up
  uint64_t steps_in_window = 1;        // a power of two
  WindowSums first_steps, last_steps;  // first and last step of each window, by the job's own numbers
  // Bytes allocated in a window, if windows replace steps; 0: they are steps.
  uint64_t window_bytes = 0;
  // The directories of the process's own code, see CodeRoots.
  std::string executable, working_directory, script_directory;
  std::vector<ProfileSite> sites;  // the most important sites, by number
  uint64_t other_sites = 0;        // number of sites that are left out
  std::vector<ProfileLeak> leaks;
  std::vector<ProfileDevice> devices;  // by index, the host last
  // Step values: their sum in each window, and the number of steps that have one.
  std::vector<double> mark_sum;
  WindowSums marks;
  // The order of all allocations and frees.
  bool ordered = false;  // whether the order is known
  uint64_t events = 0, event_hash = 0;
  uint64_t sites_hash = 0;  // hash of all sites in their order

  // Only for a trace that is compared: its windows are the comparison's blocks, and the totals of sites and devices
  // cover the compared part of the run. A summary has none.
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

// Returns the bytes live when each window ends: allocated less freed bytes. One value for each window, also if all are
// 0.
WindowSums LiveAtEnds(const StepProfile& profile, const SiteWindows& site);
WindowSums ObjectsAtEnds(const StepProfile& profile, const SiteWindows& site);

// Merges windows in pairs until there are at most `windows` (a power of two), and keeps the `sites` most important
// sites: leaks first, then by bytes allocated. Reducing in two steps gives the same result as in one.
void Reduce(size_t windows, size_t sites, StepProfile* profile);

// Throws std::runtime_error if the numbers cannot be those of a run. Comparisons rely on this check, as a summary may
// come from an untrusted source.
void CheckProfile(const StepProfile& profile);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_STEP_PROFILE_H_
