// SPDX-License-Identifier: Apache-2.0
//
// What an analysis found, as plain data: the renderers print it and compute nothing. Names are those of the JSON report
// (docs/report.md), bytes are integers, steps are the job's own numbers where it marked them.
#ifndef ANALYZER_MODEL_REPORT_H_
#define ANALYZER_MODEL_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

constexpr int kReportSchemaVersion = 1;

// What CUPTI's activity records say beside the hooked events: docs/cupti.md. Of the memory that the driver gives out.
struct ReportActivities {
  struct OnlyCupti {
    std::string library;  // that asked for it; empty: CUPTI did not say
    std::string kind;
    uint32_t device = 0;
    uint64_t allocations = 0, bytes = 0, live_objects = 0, live_bytes = 0;
  };
  struct OnlyHooks {
    std::string kind;
    uint64_t allocations = 0, bytes = 0;
    bool reported = false;  // CUPTI has told of others of this kind, so that it should have told of these
  };
  struct Missing {
    double from_s = 0, to_s = 0;  // since the recording began
    std::string why;
  };

  uint64_t records = 0, dropped = 0, unwritten = 0;
  uint64_t joined = 0, joined_bytes = 0;  // allocations that both saw
  uint64_t other_sizes = 0;               // of these, those whose sizes differ
  std::vector<OnlyCupti> only_cupti;      // by live bytes, the most first
  std::vector<OnlyHooks> only_hooks;      // by bytes, the most first
  std::vector<Missing> missing;           // when no records came
};

struct ReportProcess {
  uint32_t pid = 0, parent_pid = 0;
  std::optional<int> rank;
  std::vector<std::string> command;
  std::string run_id;          // the same in all processes of a run; empty: not known
  bool complete = false;       // ended normally, nothing lost and nothing damaged
  std::string incomplete_why;  // one line; empty when complete
  uint64_t events = 0, lost_events = 0;
  double duration_s = 0;
  std::optional<ReportActivities> activities;  // none: CUPTI was not asked
};

// A loop around the steps: an epoch, an evaluation every so many steps, micro-steps that are accumulated.
struct ReportStepRounds {
  uint64_t steps = 0;  // in each
  uint64_t count = 0;  // complete ones
};

// A part of a run whose steps are of one kind: training, then evaluation, then generation.
struct ReportPhase {
  std::string source = "none";  // as of steps; "none" of windows, and of a part that is not judged
  std::string name;             // of the range that its steps are; empty: they have none
  std::string unit = "step";    // or "window", or "none": this part is not judged
  uint64_t count = 0;           // complete steps or windows
  uint64_t first_step = 0;      // how many came before it
  double share = 0;             // of the run, 0 to 1
};

struct ReportSteps {
  uint64_t count = 0;           // complete steps; of a run with phases, those of all of them
  std::string source = "none";  // "marks", "nvtx", "optimizer", "periodicity", "none"
  double confidence = 0;        // 0 to 1
  // Or "window": there are no steps, and what is counted are windows of so many bytes allocated.
  std::string unit = "step";
  uint64_t window_bytes = 0;
  std::vector<ReportStepRounds> rounds = {};  // the shortest first; only those that are sure
  std::string name = {};                      // of the range that a step is, "#" for numbers; empty: it has none
  double coverage = 0;                        // share of the run that steps cover, 0 to 1
  double judged = 0;                          // that steps or windows cover
  std::string runner_up = {};                 // what else could have been a step; empty: nothing
  uint64_t runner_up_count = 0;
  std::vector<ReportPhase> phases = {};  // by time; empty: all steps are of one kind
};

// Where a device's memory is that a framework's allocator manages part of. To the byte:
// device_used = live + cached + others + overhead + unattributed; reserved = live + cached.
struct ReportFrameworkShare {
  uint64_t cached = 0, releasable = 0, others = 0, overhead = 0, unattributed = 0, unplaced = 0;
};

struct ReportMoment {
  std::optional<int64_t> step;
  uint64_t device_used = 0, reserved = 0, live = 0;  // bytes
  std::optional<ReportFrameworkShare> framework;     // none: the device has no framework's level
};

struct ReportGrowth {
  double bytes_per_step = 0, ci_low = 0, ci_high = 0;
  std::optional<double> steps_to_oom;  // none: does not grow, or it cannot be told
  // 95 %; with steps_to_oom.
  double steps_to_oom_low = 0, steps_to_oom_high = 0;
  std::optional<double> seconds_to_oom;  // none: no steps_to_oom, or steps have no duration
  std::string refused;                   // one line: why nothing is foretold of what grows; empty otherwise
};

// Of a device: what is allocated, what is taken from the driver, what is used on it.
struct ReportGrowths {
  ReportGrowth live, reserved, device_used;
};

struct ReportFrame;

// Something that would have helped: tried on a model of the allocator, or counted.
struct ReportAdvice {
  std::string text;
  std::string setting;  // the line to put into the environment or the program; empty: none
  uint64_t reserved_before = 0, reserved_after = 0, saved_bytes = 0;  // at the peak
};

// The free bytes of the segments in which an object of this site is the last to go.
struct ReportPin {
  std::string site;  // id; empty: it is none of the report's
  uint64_t segments = 0, bytes = 0;
  std::vector<ReportFrame> stack;
};

// Segments of a framework's allocator that serve the same requests: those of a stream, or of a graph.
struct ReportSegmentPool {
  uint32_t pool = 0;
  std::string sizes;  // of the blocks: "small" (up to 1 MiB), "large"
  uint64_t segments = 0, reserved = 0, live = 0, free_releasable = 0, largest_free = 0;
  double external = 0;  // share of the free bytes that is not in the largest piece
  double unusable = 0;  // share of the free bytes in pieces smaller than the pool's average block
};

// reserved = live + free_releasable + free_pinned, to the byte.
struct ReportSegmentUse {
  std::optional<int64_t> step;
  uint64_t reserved = 0, live = 0, free_releasable = 0, free_pinned = 0;
};

// Segments of one size that have become more.
struct ReportGrownSegments {
  std::string sizes;  // as ReportSegmentPool
  uint64_t segment_bytes = 0, segments = 0, bytes = 0;
  uint64_t pools = 0;  // that they are of
};

// A framework's allocator takes more and more from the device while what it hands out does not grow.
struct ReportReserveGrowth {
  double bytes_per_step = 0, ci_low = 0, ci_high = 0;  // of what is reserved beyond the most that was live; 95 %
  std::optional<int64_t> first_step;                   // from when on
  uint64_t stairs = 0;                                 // in how many it grew
  // From then to the end: segments that are there beyond those that were, of how many pools, asked for from how many
  // places.
  uint64_t segments = 0, bytes = 0, pools = 0, stacks = 0;
  uint64_t free_releasable = 0, free_pinned = 0;  // of the new ones, at the end of the last step
  std::vector<ReportGrownSegments> sizes;         // the most bytes first
  std::vector<ReportPin> pins;                    // of the new ones
  std::string explanation;
};

// The segments of a framework's allocator at one moment, by address, with the blocks that are live in them.
struct ReportSegmentMap {
  struct Segment {
    uint64_t address = 0, bytes = 0;
    uint32_t pool = 0;
    std::string sizes;                  // as ReportSegmentPool
    uint64_t live = 0;                  // bytes of its blocks
    uint64_t blocks = 0;                // how many of `blocks` are in it: they follow each other in its order
    std::optional<uint64_t> pinned_by;  // of these, the one that is the last to go; none: it has no block
  };
  struct Block {
    uint64_t offset = 0, bytes = 0;  // in its segment
    std::string site;                // id; empty: it is none of the report's
    std::string category;
  };
  std::optional<int64_t> step;
  std::vector<Segment> segments;
  std::vector<Block> blocks;
  uint64_t other_segments = 0, other_bytes = 0;  // that are left out, as there are too many blocks
};

// reserved = live + rounding + free_releasable + free_pinned, to the byte, at the peak.
struct ReportFragmentation {
  uint64_t reserved = 0, live = 0, rounding = 0, free_releasable = 0, free_pinned = 0;
  uint64_t lower_bound = 0, upper_bound = 0;  // of what any allocator would have needed at the peak
  std::vector<ReportAdvice> advice;           // the largest saving first
  // Of a device with a framework's level.
  std::optional<ReportSegmentUse> at_reserved_peak;  // when its segments were largest
  std::optional<ReportSegmentMap> map;               // at that moment
  std::vector<ReportPin> pins;                       // at that moment, the most bytes first
  std::vector<ReportSegmentPool> pools;              // at that moment
  std::optional<ReportReserveGrowth> growth;         // none: it does not grow, or too few steps tell
  uint64_t model_blocks = 0;                         // that the model of the allocator followed
  uint64_t model_surprises = 0;                      // of these, those that it would have put elsewhere
};

// A pool of the driver's stream-ordered memory, by pages of 2 MiB. When a pool gives back what is free depends on when
// the job waits for its device, which a trace does not tell: what is held is between two bounds.
struct ReportMemoryPool {
  std::string pool;  // "default", or its handle
  uint64_t allocations = 0, trims = 0;
  std::optional<uint64_t> release_threshold;  // none: it is not known which pool one was set for
  uint64_t peak_live = 0;
  // What any pool needs, and what this one's placement took.
  uint64_t lower_bound = 0, upper_bound = 0;
  // reserved = live + rounding + free_pinned + free_releasable, to the byte, when most was free, if nothing was given
  // back but by trimming.
  std::optional<int64_t> step;
  uint64_t reserved = 0, live = 0, rounding = 0, free_pinned = 0, free_releasable = 0;
  uint64_t free_releasable_at_least = 0;  // at any time, if the job waited after each free
};

// What is live at a device's peak. Categories and sizes add up to its live bytes each, and so do ages where there are
// steps.
struct ReportPeakCategory {
  std::string name;
  uint64_t bytes = 0;
  double confidence = 0;                                   // 0 to 1
  std::vector<std::pair<std::string, uint64_t>> evidence;  // what decided, with its bytes
};
struct ReportPeakShare {
  std::string name;  // "this_step", "recent_steps", "earlier_steps", "setup"
  uint64_t objects = 0, bytes = 0;
};
struct ReportSizeClass {
  std::optional<uint64_t> up_to;  // bytes of one object; none: the largest
  uint64_t objects = 0, bytes = 0;
};
// What the peak would have been without several of its largest sites.
struct ReportPeakWithout {
  std::vector<std::string> sites;  // ids, the largest first
  uint64_t peak = 0;
};
struct ReportPeakSet {
  std::vector<ReportPeakCategory> categories;  // by bytes, the most first
  std::vector<ReportPeakShare> ages;           // empty without steps
  std::vector<ReportSizeClass> sizes;
  std::vector<ReportPeakWithout> without;  // the largest, the two largest, the three largest
};

// Objects that need not be there, as far as allocations and frees alone tell: evidence, no proof. docs/peaks.md.
struct ReportPattern {
  std::string pattern;  // "late_free", "unused_between", "redundant_allocation"
  std::string category;
  std::string site;         // id of the largest one; empty: none of them is in the report
  uint64_t sites = 0;       // how many there are
  uint64_t objects = 0;     // that the pattern was seen in
  uint64_t bytes = 0;       // of them at a time, at most; of redundant allocations all
  uint64_t peak_saved = 0;  // by what the peak would be lower
  std::string explanation;
};

// What ran on a device, by CUPTI's records: docs/cupti.md.
struct ReportWork {
  struct Kind {
    std::string kind;  // "kernels", "copies", "fills", "graphs"
    uint64_t count = 0;
    double busy_s = 0;  // the sum of what each took
    // Of complete steps: medians, and the least and the most.
    uint64_t per_step = 0, least_per_step = 0, most_per_step = 0;
    double busy_s_per_step = 0;
  };
  std::vector<Kind> kinds;     // that ran at all
  double busy_s = 0;           // in which anything ran
  uint64_t steps = 0;          // complete ones; without any, what is per step is 0
  double busy_s_per_step = 0;  // median
  double busy_share = 0;       // of the time that complete steps took
};

// Behind this nothing ran on any device that can have used what a site allocated.
struct ReportLastUse {
  uint64_t objects = 0;
  double latest_s = 0;                 // since the recording began: of the object for which it was latest
  std::optional<int64_t> latest_step;  // none without steps
  double idle_s = 0;                   // from then to the object's end, the median of the objects
};

// The first kernel that began on the site's device behind an allocation.
struct ReportFirstKernel {
  std::string function;
  double share = 0;  // of the site's allocations
};

struct ReportOnlyCupti {
  std::string library;  // empty: CUPTI did not say
  uint64_t at_peak = 0, at_end = 0;
};

struct ReportDevice {
  uint32_t index = 0;
  std::string name;          // empty: the job never asked
  uint64_t total_bytes = 0;  // 0: unknown
  ReportMoment peak, end;
  // When the last complete step ended: what Python gives back when it ends is not of the run. None without steps.
  std::optional<ReportMoment> last_step;
  ReportPeakSet peak_set;
  std::optional<ReportGrowth> growth;      // of live bytes; none: too few steps
  std::optional<ReportGrowths> growth_of;  // none: too few steps
  // Of the growth of live bytes, what no site explains, in bytes per step; 0: nothing.
  double unexplained_growth = 0;
  ReportFragmentation fragmentation;
  std::vector<ReportMemoryPool> memory_pools;  // by handle, the device's own first
  uint64_t unattributed_bytes = 0;
  // What of the driver's memory only CUPTI saw being allocated, by library, the most first.
  std::vector<ReportOnlyCupti> only_cupti;
  std::optional<ReportWork> work;       // none: no records of what ran
  std::vector<ReportPattern> patterns;  // by what they save, the most first
  // Of a device with a framework's level: what of the driver's memory at the peak is no segment, by owner, the most
  // first.
  std::vector<std::pair<std::string, uint64_t>> other_owners;
  // Of a job with several processes: whose figures these are, and how many used a device with this number.
  std::optional<int> rank;
  uint32_t pid = 0;
  uint64_t processes = 1;
};

struct ReportFrame {
  std::string function, file, module, language;
  uint32_t line = 0;
  uint64_t offset = 0;  // in the module, where there is no line
  // Whose code it is. A site is named by the job's own frames where it has some. kCupti: no frame at all, but the
  // library that CUPTI names where no hook saw the call.
  enum class Origin { kJob, kLibrary, kNode, kCupti } origin = Origin::kJob;
  // Of a Python package or a native library that is installed, or of a script that only starts one: not of the job's
  // own folder.
  bool installed = false;
  bool inlined = false;    // into the next frame's function
  bool forward = false;    // of the forward call that made the graph node which is run backward
  std::string shown_file;  // `file` as it is shown in text, where that is shorter
};

inline bool IsPython(const ReportFrame& frame) { return frame.language == "python"; }

// Whether a frame is of the user's own code: not of PyTorch, the standard library or anything else that is installed.
inline bool IsOwn(const ReportFrame& frame) {
  return frame.origin == ReportFrame::Origin::kJob && !frame.installed && (IsPython(frame) || !frame.module.empty());
}

// Index of the innermost frame of the user's own code from `from` outwards: in a stack with Python a Python frame; none
// where no frame is.
inline std::optional<size_t> OwnFrame(const std::vector<ReportFrame>& frames, size_t from = 0) {
  bool python = false;
  for (const ReportFrame& frame : frames) python |= IsPython(frame);
  for (size_t i = from; i < frames.size(); ++i) {
    if (IsOwn(frames[i]) && IsPython(frames[i]) == python) return i;
  }
  return std::nullopt;
}

// Index of the frame that names a stack: `from`, or, where Python has a part in it, the first of the job's own lines
// from there outwards, or else the innermost of them, or else that of any Python.
inline size_t NamingFrame(const std::vector<ReportFrame>& frames, size_t from) {
  const auto first = [&frames](size_t begin, bool own) {
    while (begin < frames.size() &&
           (frames[begin].language != "python" || (own && frames[begin].origin != ReportFrame::Origin::kJob))) {
      ++begin;
    }
    return begin;
  };
  for (const bool own : {true, false}) {
    for (const size_t begin : {from, size_t{0}}) {
      if (const size_t found = first(begin, own); found < frames.size()) return found;
    }
  }
  return from;
}

// A leak as a whole: its leading site and its parts together.
struct ReportLeak {
  double rate_bytes_per_step = 0, rate_ci_low = 0, rate_ci_high = 0, rate_objects_per_step = 0;
  uint64_t live_bytes = 0, bytes_at_peak = 0;
  uint64_t peak_without = 0;  // the peak of its device had none of them allocated anything
};

// What the steps of a finding left behind, and what its verdict was told by: of a leak as a whole where the site leads
// one. The last step that counts is the last complete one.
struct ReportKept {
  struct FitPoint {
    int64_t step = 0;
    double bytes = 0, low = 0, high = 0;
  };

  // One point a step, or one for several: what was born up to this step and is there after the last one, in all.
  std::vector<int64_t> step;
  std::vector<uint64_t> bytes, objects;
  std::vector<FitPoint> fit;  // both ends of the line that the rate and its interval make; empty: there is none
  // The steps that were judged, and what was born in them and is there after the last step.
  uint64_t tested_steps = 0;
  std::optional<int64_t> first_tested_step, last_tested_step;
  uint64_t steps_with_survivors = 0, survivor_objects = 0, survivor_bytes = 0;
  uint64_t max_lifetime_steps = 0;  // of objects that were freed
};

// What the ranks of a job say of a place: the same code, on whichever devices. Of a leak as a whole where the site
// leads one. A job without ranks has processes instead.
struct ReportAcross {
  // Of the ranks in which it leaks, each weighed alike: per rank, and per what the site's rates are per.
  struct Rate {
    std::string of = "bytes";                  // or "objects", of handles
    double mean = 0, ci_low = 0, ci_high = 0;  // 95 %
    double least = 0, median = 0, most = 0, standard_deviation = 0;
    std::optional<int> most_rank;  // that has the most; none: the job has no ranks
    uint32_t most_pid = 0;
  };

  uint64_t ranks = 0;                              // of the job
  uint64_t leak = 0, not_enough = 0, no_leak = 0;  // what it is judged in those whose sites list it
  std::optional<Rate> rate;                        // none: it leaks in none, or its rates are per different things
};

struct ReportSite {
  std::string id;  // short and stable: a hash of the frames' functions, level, kind and device
  std::string level, kind, owner, category, verdict, grade, explanation;
  std::optional<uint32_t> device;  // none: host memory
  double rate_bytes_per_step = 0, rate_ci_low = 0, rate_ci_high = 0, rate_objects_per_step = 0;
  std::optional<int64_t> onset_step;
  // What the rates of this site are per: "step" or "GiB allocated".
  std::string rate_unit = "step";
  std::string step_name;                         // of the range that a step of this site's phase is; empty: none
  double rate_bytes_per_second = 0;              // over the run; of a leak as a whole where the site leads one
  std::optional<uint64_t> further_steps_needed;  // of insufficient_evidence
  uint64_t allocations = 0, frees = 0, bytes_allocated = 0, live_objects = 0, live_bytes = 0, bytes_at_peak = 0;
  uint64_t peak_without_site = 0;
  std::vector<ReportFrame> frames;      // most recent call first
  std::vector<ReportFrame> raw_frames;  // all of them, until they take the place of `frames`; empty: they do not
  // The line to look at: the innermost of the user's own code on the leading stack, the call that leads to the bulk of
  // a leak, or in native programs the innermost frame that no site without a leak shares.
  size_t blame_frame = 0;
  std::optional<uint64_t> own_frame;   // index of the innermost frame of the user's own code; none: no frame is
  std::string part_of;                 // id of the site that leads the leak which this one belongs to; empty: none does
  uint64_t parts = 0;                  // how many other sites belong to the leak that this one leads
  std::optional<ReportLeak> group;     // of a leak that is no part of another
  std::optional<ReportKept> kept;      // of a finding that is no part of another, where it left something
  std::optional<ReportAcross> across;  // none: there is one rank only, or none of them has it
  // Of leaks, where CUPTI's records tell: docs/cupti.md.
  std::optional<ReportLastUse> last_use;
  std::optional<ReportFirstKernel> first_kernel;
};

inline bool IsLeak(const ReportSite& site) {
  return site.verdict == "leak" || site.verdict == "accelerating_leak" || site.verdict == "growing_buffer" ||
         site.verdict == "minor_leak";
}

// What live bytes consist of when they are highest, in each bin. To the byte: what is live = sum of categories = sum of
// sites + other_sites.
struct ReportComposition {
  std::vector<std::pair<std::string, std::vector<uint64_t>>> categories;  // by name
  std::vector<std::pair<std::string, std::vector<uint64_t>>> sites;  // by id: leaks, and what holds most at the peak
  std::vector<uint64_t> other_sites;
};

// The step that reached the peak, allocation by allocation: one row for each, or for several.
struct ReportPeakStep {
  std::optional<int64_t> step;
  std::vector<uint64_t> event;  // the row's first allocation or free of the step
  std::vector<double> seconds;  // since the recording began
  std::vector<uint64_t> live;   // the highest of the row
  ReportComposition consists_of;
};

// Live bytes within the steps of a run that has less of them than a timeline may have bins.
struct ReportWithinSteps {
  uint64_t events = 0;  // allocations and frees that a row stands for, at most
  std::vector<double>
      position;  // a step's number, and behind the point which share of its allocations and frees is done
  std::vector<uint64_t> low, high;
};

// One row a bin; the columns are equally long. `low` and `high` are the lowest and highest value within the bin.
struct ReportTimeline {
  std::optional<uint32_t> device;
  std::string unit = "steps";  // or "seconds"
  std::vector<double> position;
  struct Series {
    std::vector<uint64_t> low, high;
  };
  Series device_used, reserved, live;
  std::vector<std::pair<std::string, Series>> categories;
  ReportComposition at_high;                      // of live.high
  std::optional<ReportPeakStep> peak_step;        // none: there are no steps, or nothing was live
  std::optional<ReportWithinSteps> within_steps;  // none: there are no steps, or too many
};

// A line of the job, and what was allocated there of the memory that is live at a peak.
struct ReportPeakLine {
  std::optional<ReportFrame> line;  // none: no stack was recorded
  std::string site;                 // id of the largest of its sites; of a leak, of the one that leads it; empty: it is
                                    // none of the report's
  bool leak = false;                // the line is that of a leak, and stands for all of its sites
  uint64_t sites = 0;               // call stacks
  uint64_t bytes = 0;
  uint64_t peak_without = 0;  // the peak had none of them allocated anything
  std::string category;       // what all of it is for; empty: for several things
};

// Who holds the memory at the peak of a device, or of the host. To the byte: live = sum of lines + other_bytes.
struct ReportPeakLines {
  std::optional<uint32_t> device;  // none: host memory
  uint64_t live = 0;
  std::vector<ReportPeakLine> lines;  // the most bytes first
  uint64_t other_sites = 0, other_bytes = 0;
};

// The calls that lead to what is live at a device's peak, or the host's: a tree, callers before callees. A node is a
// frame of one of its sites.
struct ReportPeakStacks {
  struct Node {
    std::optional<uint64_t> parent;  // none: an outermost frame
    std::string site;                // id
    uint64_t frame = 0;              // index of the site's frames
    uint64_t bytes = 0;              // of all sites whose stacks lead through it
    uint64_t sites = 0;
  };
  std::optional<uint32_t> device;  // none: host memory
  uint64_t live = 0;
  std::vector<Node> nodes;
  uint64_t other_bytes = 0;  // of sites that the report does not list, or that have no stack
};

struct ReportOom {
  std::optional<int64_t> step;
  double seconds = 0;  // since the recording began
  uint32_t device = 0;
  uint64_t requested = 0;
  std::optional<uint64_t> free, largest_free;  // none: the device's size is unknown
  std::string cause;                           // "amount", "contiguity"; empty: unknown
  std::string level = "driver";                // whose allocation failed: "driver" or "framework"
  // Of a device with a framework's level.
  std::optional<uint64_t> live, reserved, largest_hole, device_free;
  // Its allocator keeps small and large blocks in segments of their own: of which of these pools the request is, the
  // largest hole there, and the segment that it would need from the device where no hole is large enough.
  std::string pool;  // "small", "large"; empty: not known
  std::optional<uint64_t> pool_hole, segment_bytes;
  std::vector<ReportFrame> stack;
  // With what the request would have been fulfilled, and the most that could then have been asked for.
  std::vector<std::pair<std::string, uint64_t>> would_fit;
  std::vector<std::pair<std::string, uint64_t>> holders;     // site id, bytes live at that moment, largest first
  std::vector<std::pair<std::string, uint64_t>> categories;  // all that was live then, by category, largest first

  // What is different from the last step that went well.
  struct Change {
    std::string site;            // id
    uint64_t then = 0, now = 0;  // bytes live
  };
  std::optional<int64_t> compared_step;  // none: there is no such step, and nothing below is known
  bool same_point = false;               // where the same place asked as often in that step; otherwise its peak
  uint64_t then = 0, now = 0;            // bytes live of all sites that changed
  std::vector<Change> changes;           // sites of the report, what grew most first
  // How large the step's objects are, over those of the same sites in the steps before; none: not known.
  std::optional<double> size_ratio;
  std::optional<int> rank;  // of the process that asked
  uint32_t pid = 0;
};

// How memory goes in one rank, coarse: of the device of which it has most live at its peak. The columns are equally
// long.
struct ReportRankCurve {
  uint64_t order = 0;  // its place among those of the job
  // Why it is there: "differs", or of the others "alike" where all ranks have one, else "highest", "median", "least" by
  // their peaks; "median" in any case.
  std::string as;
  uint32_t device = 0;
  std::string unit = "steps";    // or "seconds", as of a timeline
  std::vector<double> position;  // where a bin begins
  ReportTimeline::Series live, reserved;
};

// A rank of a job with several, or one of several processes without ranks. Sums over its devices.
struct ReportRank {
  struct Difference {
    std::string what;      // "leak", "growth", "peak", "end", "category"
    double value = 0;      // bytes, or bytes per step
    double usual = 0;      // the median of the other ranks
    std::string site;      // id, of a leak
    std::string category;  // of "category": what the rank holds more or less of at its peaks
  };

  std::optional<int> rank;
  uint32_t pid = 0;
  std::vector<uint32_t> devices;
  uint64_t peak_live = 0, end_live = 0;
  std::vector<std::pair<std::string, uint64_t>> categories;  // at the peaks, by name
  std::optional<double> growth_bytes_per_step;
  uint64_t leaks = 0;
  double leak_bytes_per_step = 0;
  std::vector<Difference> differs;       // how it is unlike most of the others; empty: it is not
  std::optional<ReportRankCurve> curve;  // none: it used no device, or there are very many and others are shown
};

// What a framework's allocator gave back to the driver from one place.
struct ReportRelease {
  uint64_t calls = 0, segments = 0, bytes = 0;
  uint64_t least = 0, most = 0;  // bytes of one call
  struct Call {
    std::optional<int64_t> step;
    double seconds = 0;  // since the recording began
    uint64_t bytes = 0;
  };
  std::vector<Call> times;  // the first thousand; of several processes, those of the one that gave back most
  std::vector<ReportFrame> stack;
  uint64_t processes = 1;  // that gave back from there
};

struct Report {
  std::string tool_version;
  std::vector<ReportProcess> processes;
  ReportSteps steps;
  std::vector<ReportDevice> devices;
  std::vector<ReportSite> sites;  // leaks first, worst first; then by bytes at the peak
  // How many sites have each verdict, by its name: of all sites, while `sites` leaves out small ones that are no leaks.
  std::vector<std::pair<std::string, uint64_t>> verdict_counts;
  // The most further steps that a site without a verdict needs, of all sites; none: that is not known, or none needs
  // any.
  std::optional<uint64_t> further_steps_needed;
  std::vector<std::string> ranking;  // site ids, only those whose verdict is a leak and which are no part of another
  std::vector<ReportTimeline> timeline;
  std::vector<ReportPeakLines> peak_lines;    // of each device, and of the host
  std::vector<ReportPeakStacks> peak_stacks;  // the same
  std::vector<ReportOom> oom;
  std::vector<ReportRelease> releases;  // by bytes, the most first
  std::vector<ReportRank> ranks;        // by rank; none where there is only one process
  std::vector<std::string> warnings;    // one line each: missing symbols, lost events, damage, runs left out
  std::string left_out;                 // that of the warnings on runs of the same folder; empty: there are none
  // Why nobody can be sure that nothing else leaks, one sentence each: parts of the run that could not be judged,
  // growth that no site explains. Where there is any, a run without leaks is not known to be clean.
  std::vector<std::string> unsure;
};

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_REPORT_H_
