// SPDX-License-Identifier: Apache-2.0
//
// An allocation site: what one call stack allocated, and the verdict on it.
#ifndef ANALYZER_MODEL_SITE_H_
#define ANALYZER_MODEL_SITE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"
#include "analyzer/model/holder.h"

namespace vramtrack {

struct ReportLeak {
  double rate_bytes_per_step = 0, rate_ci_low = 0, rate_ci_high = 0, rate_objects_per_step = 0;
  uint64_t live_bytes = 0, bytes_at_peak = 0;
  uint64_t peak_without = 0;
};

template <>
inline constexpr const char* kAbout<ReportLeak> = "A leak as a whole: the site that leads it and its parts together";
template <class Visitor>
void Fields(Visitor& visit, ReportLeak& leak) {
  visit(1, "rate_bytes_per_step", leak.rate_bytes_per_step, "bytes that stay behind per `rate_unit`");
  visit(2, "rate_ci", field::Interval{leak.rate_ci_low, leak.rate_ci_high}, "95 % confidence interval");
  visit(4, "rate_objects_per_step", leak.rate_objects_per_step, "objects that stay behind per `rate_unit`");
  visit(5, "live_bytes", leak.live_bytes, "bytes live at the end");
  visit(6, "bytes_at_peak", leak.bytes_at_peak, "bytes live at the peak of the device");
  visit(7, "peak_without", leak.peak_without, "bytes at the peak if none of these sites had allocated anything");
}

struct ReportKept {
  struct FitPoint {
    int64_t step = 0;
    double bytes = 0, low = 0, high = 0;
  };

  // One point for each step, or for several steps. A point holds the total of what was allocated up to this step and is
  // still live after the last step.
  std::vector<int64_t> step;
  std::vector<uint64_t> bytes, objects;
  std::vector<FitPoint> fit;
  // The steps that were judged, and the objects that were allocated in them and are still live after the last step.
  uint64_t tested_steps = 0;
  std::optional<int64_t> first_tested_step, last_tested_step;
  uint64_t steps_with_survivors = 0, survivor_objects = 0, survivor_bytes = 0;
  uint64_t max_lifetime_steps = 0;
};

template <>
inline constexpr const char* kAbout<ReportKept::FitPoint> =
    "One end of the line that was fitted to what steps left behind";
template <class Visitor>
void Fields(Visitor& visit, ReportKept::FitPoint& point) {
  visit(1, "step", point.step);
  visit(2, "bytes", point.bytes, "bytes left behind up to this step, by the rate");
  visit(3, "low", point.low, "the same by the lower end of the rate's confidence interval");
  visit(4, "high", point.high, "the same by its upper end");
}

template <>
inline constexpr const char* kAbout<ReportKept> =
    "What the steps of a finding left behind: the evidence for its verdict. For the whole leak if the site leads one; "
    "for the worst of several processes";
template <class Visitor>
void Fields(Visitor& visit, ReportKept& kept) {
  visit(1, "step", kept.step, "step numbers, at most 500");
  visit(2, "bytes", kept.bytes, "bytes allocated up to each of these steps and still live after the last one");
  visit(3, "objects", kept.objects, "the same in objects");
  visit(4, "fit", kept.fit, "the two ends of the fitted line; empty without one");
  visit(5, "tested_steps", kept.tested_steps, "how many steps were judged");
  visit(6, "first_tested_step", kept.first_tested_step, "the first of them");
  visit(7, "last_tested_step", kept.last_tested_step, "the last of them");
  visit(8, "steps_with_survivors", kept.steps_with_survivors, "how many of these steps left something behind");
  visit(9, "survivor_objects", kept.survivor_objects, "objects that they left behind");
  visit(10, "survivor_bytes", kept.survivor_bytes, "bytes of these objects");
  visit(11, "max_lifetime_steps", kept.max_lifetime_steps, "the longest life of an object that was freed, in steps");
}

struct ReportAcross {
  // Statistics of the ranks in which the site leaks, each with the same weight: per rank, and per the site's
  // `rate_unit`.
  struct Rate {
    RateOf of = RateOf::kBytes;
    double mean = 0, ci_low = 0, ci_high = 0;
    double least = 0, median = 0, most = 0, standard_deviation = 0;
    std::optional<int> most_rank;
    uint32_t most_pid = 0;
  };

  uint64_t ranks = 0;
  uint64_t leak = 0, not_enough = 0, no_leak = 0;
  std::optional<Rate> rate;
};

template <>
inline constexpr const char* kAbout<ReportAcross::Rate> =
    "Of the ranks in which a place leaks, each weighed alike: per rank, and per `rate_unit`";
template <class Visitor>
void Fields(Visitor& visit, ReportAcross::Rate& rate) {
  visit(0, "of", rate.of, "`objects` of handles");
  visit(0, "mean", rate.mean, "mean of the ranks");
  visit(0, "ci", field::Interval{rate.ci_low, rate.ci_high}, "95 % confidence interval");
  visit(0, "least", rate.least, "the lowest of the ranks");
  visit(0, "median", rate.median, "median of the ranks");
  visit(0, "most", rate.most, "the highest of the ranks");
  visit(0, "standard_deviation", rate.standard_deviation, "among the ranks");
  visit(0, "most_rank", rate.most_rank, "the rank that leaks most; `null` in a job without ranks");
  visit(0, "most_pid", rate.most_pid, "the process that leaks most");
}

template <>
inline constexpr const char* kAbout<ReportAcross> =
    "What the ranks of a job say of a place, the same code on whichever devices; see [the vote of the "
    "ranks](report.md#the-vote-of-the-ranks)";
template <class Visitor>
void Fields(Visitor& visit, ReportAcross& across) {
  visit(0, "ranks", across.ranks,
        "of the job: its processes that used a device, where there are no ranks. Of several with one rank the one with "
        "the most memory counts");
  visit(0, "leak", across.leak, "in how many of them the place is judged a leak");
  visit(0, "not_enough", across.not_enough, "in how many it could not be judged");
  visit(0, "no_leak", across.no_leak,
        "in how many it is judged no leak. The sites of the others do not list it: it is not there, or too small");
  visit(0, "rate", across.rate, "`null` where it leaks in no rank, or the rates are per different things");
}

struct ReportLastUse {
  uint64_t objects = 0;
  double latest_s = 0;
  std::optional<int64_t> latest_step;
  double idle_s = 0;
};

template <>
inline constexpr const char* kAbout<ReportLastUse> =
    "After this nothing ran on any device that can have used what a site allocated";
template <class Visitor>
void Fields(Visitor& visit, ReportLastUse& use) {
  visit(1, "objects", use.objects, "that this is known of");
  visit(2, "latest_s", use.latest_s, "seconds since the recording began; of the object for which it was latest");
  visit(3, "latest_step", use.latest_step, "`null` without steps");
  visit(4, "idle_s", use.idle_s,
        "seconds from then to an object's free or the end of the trace, the median of the objects");
}

struct ReportFirstKernel {
  std::string function;
  double share = 0;
};

template <>
inline constexpr const char* kAbout<ReportFirstKernel> =
    "The kernel that was the first to begin on the device after so many of the allocations";
template <class Visitor>
void Fields(Visitor& visit, ReportFirstKernel& kernel) {
  visit(1, "function", kernel.function, "its name");
  visit(2, "share", kernel.share, "of the site's allocations, 0.9 at least");
}

struct ReportNvtxRange {
  std::string path;
  double share = 0;
  std::string opened_at;
};

template <>
inline constexpr const char* kAbout<ReportNvtxRange> =
    "The NVTX ranges that are open while a site allocates, and calls of a `tf.function`: those of its thread; for a "
    "thread without any, those of the only thread that has some";
template <class Visitor>
void Fields(Visitor& visit, ReportNvtxRange& range) {
  visit(1, "path", range.path, "their names, the outermost first, numbers as `#`: `epoch # > evaluate`");
  visit(2, "share", range.share, "of the site's allocations that these ranges are open for, 0.5 at least");
  visit(3, "opened_at", field::OrNull{range.opened_at},
        "line of your code that opens the innermost one; `null` if there are several, or it is not known");
}

struct ReportMemoryName {
  std::string name;
  double share = 0;
};

template <>
inline constexpr const char* kAbout<ReportMemoryName> = "The name that a program gave to a site's memory with NVTX";
template <class Visitor>
void Fields(Visitor& visit, ReportMemoryName& name) {
  visit(1, "name", name.name, "numbers as `#`");
  visit(2, "share", name.share, "of the site's objects that have a name, 0.5 at least");
}

struct ReportSite {
  std::string id;
  Level level = Level::kDriver;
  std::string kind, owner, category;
  Verdict verdict = Verdict::kInsufficientEvidence;
  std::string grade, explanation;
  std::string rate, text;  // see DescribeInWords in render/words
  std::optional<uint32_t> device;
  double rate_bytes_per_step = 0, rate_ci_low = 0, rate_ci_high = 0, rate_objects_per_step = 0;
  std::optional<int64_t> onset_step;
  RateUnit rate_unit = RateUnit::kStep;
  std::string step_name;
  double rate_bytes_per_second = 0;
  std::optional<double> odds;
  std::string reason;
  uint64_t allocations = 0, frees = 0, bytes_allocated = 0, live_objects = 0, live_bytes = 0, bytes_at_peak = 0;
  uint64_t peak_without_site = 0, kept_in_pools = 0;
  std::vector<ReportFrame> frames;
  // All frames, until they replace `frames`; empty if they do not.
  std::vector<ReportFrame> raw_frames;
  // Index of the frame to look at: the innermost one of the user's own code on the leading stack, the call that leads
  // to most of a leak, or in native programs the innermost frame that is shared with no site without a leak.
  size_t blame_frame = 0;
  std::optional<uint64_t> own_frame;
  ReportSiteIndex part_of;
  uint64_t parts = 0;
  std::optional<ReportLeak> group;
  std::optional<ReportKept> kept;
  std::optional<ReportAcross> across;
  // Set for leaks if CUPTI's records show it: docs/cupti.md.
  std::optional<ReportLastUse> last_use;
  std::optional<ReportFirstKernel> first_kernel;
  // Set if the program marks what it does with NVTX.
  std::optional<ReportNvtxRange> nvtx_range;
  std::optional<ReportMemoryName> memory_name;
  // Set if a walk through the objects of the process shows it.
  std::optional<ReportHolder> holder;
};

template <>
inline constexpr const char* kAbout<ReportSite> =
    "Leaks first, worst first, then by bytes at the peak. All leaks and all holders of memory at a failed allocation "
    "are here; of the others those that hold most, by level, and segments of a framework's allocator apart";
template <class Visitor>
void Fields(Visitor& visit, ReportSite& site) {
  visit(0, "id", site.id, "short and stable: a hash of the functions of its stack, its level, kind and device");
  visit(1, "level", site.level,
        "`driver` (CUDA gave the memory out), `framework` (a framework's own allocator did) or `handle` (streams, "
        "events: counted, not sized)");
  visit(2, "kind", site.kind,
        "of the call: `device`, `pitched`, `array`, `mipmapped_array`, `managed`, `stream_ordered`, `pool`, `pinned`, "
        "`registered`, ...");
  visit(3, "device", site.device, "`null` for host memory");
  visit(4, "owner", site.owner, "the program or library that asked for it");
  visit(5, "category", site.category,
        "what the memory is for, see [the ledger](ledger.md#what-memory-is-for); `segment` of a framework's allocator; "
        "`handle`; `unknown` if nothing shows it");
  visit(6, "verdict", site.verdict, "see [leak verdicts](leak-verdicts.md)");
  visit(7, "grade", site.grade,
        "at which levels that was seen: `framework+driver` of a leak that the segments show as well");
  visit(8, "explanation", site.explanation, "why, in a sentence");
  visit(0, "text", site.text, "the site in one line: where it is, and what it leaves behind or holds");
  visit(0, "rate", field::OrNull{site.rate},
        "what stays behind, in words: of the whole leak if the site leads one; `null` if nothing does");
  visit(9, "rate_bytes_per_step", site.rate_bytes_per_step, "bytes that stay behind per `rate_unit`; 0 if none do");
  visit(10, "rate_ci", field::Interval{site.rate_ci_low, site.rate_ci_high}, "its 95 % confidence interval");
  visit(12, "rate_objects_per_step", site.rate_objects_per_step, "objects that stay behind per `rate_unit`");
  visit(14, "rate_unit", site.rate_unit,
        "what these three are per: `step`, or `GiB allocated` where windows stand for steps");
  visit(32, "step_name", field::OrNull{site.step_name},
        "of the range that a step of this site's phase is; `null` where steps have no name. Text says the rate per "
        "this name");
  visit(15, "rate_bytes_per_second", site.rate_bytes_per_second,
        "over the whole run; of the whole leak that the site leads");
  visit(13, "onset_step", site.onset_step,
        "the first step that leaked; `null` if it leaked from the beginning or does not leak");
  visit(37, "odds", site.odds, "of a leak, to one; `null` if nothing was judged");
  visit(38, "reason", field::OrNull{site.reason},
        "id of what speaks against a leak, see [the list](leak-verdicts.md#facts); `null` without one");
  visit(17, "allocations", site.allocations, "over the whole run");
  visit(18, "frees", site.frees, "over the whole run");
  visit(19, "bytes_allocated", site.bytes_allocated, "over the whole run");
  visit(20, "live_objects", site.live_objects, "at the end");
  visit(21, "live_bytes", site.live_bytes, "bytes live at the end");
  visit(22, "bytes_at_peak", site.bytes_at_peak, "bytes live at the peak of the device");
  visit(23, "peak_without_site", site.peak_without_site, "bytes at the peak if the site had allocated nothing");
  visit(39, "kept_in_pools", site.kept_in_pools,
        "of memory pools that were not destroyed, the bytes that they keep and nothing uses, at least");
  visit(26, "part_of", site.part_of,
        "the site that leads the leak which this one is a part of; `null` if it is part of none. [One leak is one "
        "finding](leak-verdicts.md#one-leak-one-finding)");
  visit(27, "parts", site.parts, "how many other sites belong to the leak that this one leads");
  visit(28, "group", site.group, "for a site that leads a leak, the figures of the whole leak; otherwise `null`");
  visit(29, "kept", site.kept, "for a finding that is not part of another, what it left behind; otherwise `null`");
  visit(0, "across", site.across, "in a job with ranks, or with several processes, what they say of this place");
  visit(30, "last_use", site.last_use,
        "of a leak, where [CUPTI](cupti.md#when-memory-was-last-used)'s records make it certain");
  visit(31, "first_kernel", site.first_kernel,
        "of a leak, where [CUPTI](cupti.md#when-memory-was-last-used)'s records tell");
  visit(35, "nvtx_range", site.nvtx_range,
        "the NVTX ranges that are open while it allocates; `null` if none are, or several about as often");
  visit(36, "memory_name", site.memory_name, "[what the program calls it](frameworks.md#names); `null` without a name");
  visit(34, "holder", site.holder,
        "what holds its blocks, where a [walk](report.md#who-holds-it) shows it; otherwise `null`. Not for sites that "
        "are part of another's leak");
  visit(25, "blame_frame", site.blame_frame, "index of the frame to look at");
  visit(
      33, "own_frame", site.own_frame,
      "index of the innermost frame of your own code, of Python where the stack has Python; `null` where no frame is");
  visit(24, "frames", site.frames, "most recent call first");
}

inline bool IsLeak(const ReportSite& site) { return IsLeak(site.verdict); }

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_SITE_H_
