// SPDX-License-Identifier: Apache-2.0
//
// What a process did in windows of steps, site by site, as integer sums: what another run is compared with, and what
// the tables of windows are made from. Plain data. That of a summary depends on the run alone; one that is made of a
// trace to be compared has just the windows and, as its sites, the matches that are compared.
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

// Which steps are compared, and how they are put together. Steps are indices.
struct StepWindow {
  uint32_t begin = 0, end = 0;  // the steps that are tested, after warm-up: [begin, end)
  bool whole_run = true;        // whether peaks are those of the whole run, or of the steps before `end`
  uint32_t per_unit = 1;        // so many steps make one: where the other run's steps are longer
  uint32_t blocks = 0;
  uint32_t granule = 1;      // units that are in one block together, as a summary cannot tell them apart
  uint32_t block_steps = 0;  // of each block; 0: all are as large as the others

  static constexpr uint32_t kBlocks = 24;  // enough for a test at 1 % with many sites

  // Where a block begins; behind the last, where that ends. Without block_steps.
  uint32_t BeginOf(uint32_t block) const {
    const uint64_t granules = units() / granule;
    return begin + static_cast<uint32_t>((block * granules + blocks - 1) / blocks) * granule * per_unit;
  }
  uint32_t units() const { return (end - begin) / per_unit; }
  // The block that a step belongs to; `blocks` for one that is in none.
  uint32_t BlockOf(uint32_t step) const {
    if (step < begin || step >= begin + units() * per_unit) return blocks;
    if (block_steps != 0) return (step - begin) / block_steps;
    return static_cast<uint32_t>(uint64_t{step - begin} / per_unit / granule * blocks / (units() / granule));
  }
};

// One value a window, the first from step 0 on. Empty: all are 0.
using WindowSums = std::vector<uint64_t>;

// Of one site, in complete steps. Bytes, or objects where the name says nothing of bytes.
struct SiteWindows {
  WindowSums births, born_bytes, deaths, died_bytes;
  // By the window of their birth: what is there after the last complete step.
  WindowSums survivors, survivor_bytes;
  // Sums over the window's steps of the bytes that the site holds when a step ends, when its device has most in the
  // step, and of what one thread holds of them at most in the step.
  WindowSums live, at_peak, own;
  WindowSums at_high;   // bytes when its device has most in the window
  WindowSums own_most;  // bytes that one thread holds at most in the window
  WindowSums made;      // steps of which the site's allocation makes the device's peak
};

// Blocks of a site that have the same size.
struct ProfileBlockSize {
  uint64_t bytes = 0, count = 0;
  uint64_t exact = 0;  // of them were asked for in that size, as far as is known
};

// What a step leaves behind, of a site that leaks.
struct ProfileRate {
  double bytes_per_step = 0, low = 0, high = 0;  // interval of 95 %
  double objects_per_step = 0;
};

// Sites of the ledger that look the same to a reader.
struct ProfileSite {
  uint32_t kind = 0;               // schema::Kind
  std::optional<uint32_t> device;  // none: the host
  uint32_t number = 0;             // in the order in which sites first allocated; what events are told by
  std::string category;
  std::string verdict;    // of the worst of them, as in the report
  bool unjudged = false;  // the steps were not enough for a verdict
  bool segments = false;
  std::vector<ReportFrame> frames;  // most recent call first
  // How it allocates, see DiffSite.
  double births_per_active_step = 0, bytes_per_birth = 0, lifetime_steps = 0, phase = 0, births_per_step = 0;
  bool recurring = false;
  std::optional<ProfileRate> rate;  // of a leak
  std::optional<uint64_t> leak;     // index of StepProfile::leaks

  // Of the whole run, with what is behind its last complete step.
  uint64_t allocations = 0, bytes_allocated = 0;
  uint64_t bytes_at_peak = 0, own_peak = 0, live_bytes = 0;
  bool several_threads = false;  // held memory of it at a time
  // Of the large blocks of a framework's allocator.
  std::vector<ProfileBlockSize> sizes;
  bool many_sizes = false;  // `sizes` says nothing

  uint64_t events = 0, event_sum = 0;  // allocations and frees, and the sum of what they mix to: in whatever order
  SiteWindows windows;
};

// A leak may have several sites.
struct ProfileLeak {
  std::vector<uint64_t> leading;       // indices of StepProfile::sites
  std::optional<uint64_t> call_frame;  // of the leading site: the one call that leads to all of them
};

// Of a device, or of the host. The bins are finer than windows: each window has a whole number of them.
struct ProfileDevice {
  std::optional<uint32_t> index;  // none: the host
  uint64_t run_peak = 0, run_reserved_peak = 0, run_fragmentation = 0;
  uint64_t peak_step = 0;
  uint64_t steps_in_bin = 1;  // a power of two
  // One value a bin. Bytes live at the steps' peaks, and reserved but not live at these moments: sums over steps.
  WindowSums peak, fragmentation;
  WindowSums highest;           // the highest of these peaks
  WindowSums reserved_highest;  // bytes reserved, at most
  WindowSums at_highest;        // reserved but not live, at the highest peak
  WindowSums floor;             // bytes live, at least
  WindowSums peak_sum;          // what the peaks mix to, summed: hardly the same where one of them is not
  WindowSums concurrent;        // steps in which several threads hold memory of one site
};

struct StepProfile {
  static constexpr uint64_t kMostWindows = 128;
  static constexpr size_t kMostSites = 5000;

  uint64_t steps = 0, warmup_end = 0;  // complete steps; the first after warm-up
  uint64_t steps_in_window = 1;        // a power of two
  WindowSums first_steps, last_steps;  // of each window, by the job's own numbers
  // Where steps are windows of so many bytes allocated; 0: they are steps.
  uint64_t window_bytes = 0;
  // Where the process's own code lies, see CodeRoots.
  std::string executable, working_directory, script_directory;
  std::vector<ProfileSite> sites;  // those that matter most, by number
  uint64_t other_sites = 0;        // that are left out
  std::vector<ProfileLeak> leaks;
  std::vector<ProfileDevice> devices;  // by index, the host last
  // What the marks of steps say of their size: the sum in each window, and of how many steps.
  std::vector<double> mark_sum;
  WindowSums marks;
  // All allocations and frees in their order.
  bool ordered = false;  // the order is known
  uint64_t events = 0, event_hash = 0;
  uint64_t sites_hash = 0;  // of all sites in their order

  // Of a trace that is compared: its windows are the comparison's blocks, and the totals of sites and devices those of
  // the compared part of the run. A summary has none.
  std::optional<StepWindow> blocks;

  // How many windows there are.
  size_t windows() const {
    return blocks ? blocks->blocks : static_cast<size_t>((steps + steps_in_window - 1) / steps_in_window);
  }
  // The step that a window begins with.
  uint64_t BeginOf(size_t window) const {
    return blocks ? blocks->BeginOf(static_cast<uint32_t>(window)) : window * steps_in_window;
  }
  uint64_t EndOf(size_t window) const { return blocks ? BeginOf(window + 1) : std::min(BeginOf(window + 1), steps); }
};

// Bytes live when each window ends: what was born less what died. One value a window, also where all are 0.
WindowSums LiveAtEnds(const StepProfile& profile, const SiteWindows& site);
WindowSums ObjectsAtEnds(const StepProfile& profile, const SiteWindows& site);

// Makes windows coarser, pair by pair, until there are `windows` at most (a power of two), and keeps the `sites` sites
// that matter most: leaks first, then by bytes allocated. In two steps it is the same as in one.
void Reduce(size_t windows, size_t sites, StepProfile* profile);

// Throws std::runtime_error where numbers are those of no run: what compares profiles relies on it, and a summary may
// come from anywhere.
void CheckProfile(const StepProfile& profile);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_STEP_PROFILE_H_
