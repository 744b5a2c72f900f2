// SPDX-License-Identifier: Apache-2.0
//
// Allocations that failed because memory was missing, and segments that were released.
#ifndef ANALYZER_MODEL_OOM_H_
#define ANALYZER_MODEL_OOM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"
#include "analyzer/model/holder.h"

namespace vramtrack {

struct ReportOom {
  std::optional<int64_t> step;
  double seconds = 0;
  uint32_t device = 0;
  uint64_t requested = 0;
  std::optional<uint64_t> free, largest_free;
  std::optional<OomCause> cause;  // nullopt: unknown
  Level level = Level::kDriver;   // of the allocation that failed
  // Set for a device with a framework level.
  std::optional<uint64_t> live, reserved, largest_hole, device_free;
  // The framework's allocator keeps small and large blocks in separate segments. These are the pool of the request, the
  // largest hole in that pool, and the size of the segment that the request needs from the device if no hole is large
  // enough.
  std::optional<BlockSizeClass> pool;
  std::optional<uint64_t> pool_hole, segment_bytes;
  std::vector<ReportFrame> stack;
  // The settings with which the request would have succeeded, and the largest request that would then have succeeded,
  // in bytes.
  std::vector<std::pair<std::string, uint64_t>> would_fit;
  std::vector<std::pair<ReportSiteIndex, uint64_t>> holders;
  std::vector<std::pair<std::string, uint64_t>> categories;

  // A difference from the last step that completed.
  struct Change {
    ReportSiteIndex site;
    uint64_t then = 0, now = 0;  // bytes live
  };
  std::optional<int64_t> compared_step;
  bool same_point = false;
  uint64_t then = 0, now = 0;
  std::vector<Change> changes;
  // Size of the step's objects relative to those of the same sites in the steps before; nullopt if unknown.
  std::optional<double> size_ratio;
  std::optional<SizeChange> size_change;
  bool went_on = false;

  // Who held the memory, if one line of the code or the leaks held much of it.
  struct Answer {
    ReportSiteIndex site;
    bool leak = false;
    uint64_t other_leaks = 0, bytes = 0;
    double share = 0;
  };
  std::optional<Answer> answer;
  // What a walk at the failure found, by bytes, largest first.
  std::vector<ReportHolderShare> held_by;
  std::optional<int> rank;
  uint32_t pid = 0;
};

template <>
inline constexpr const char* kAbout<ReportOom::Change> = "A site whose live bytes changed";
template <class Visitor>
void Fields(Visitor& visit, ReportOom::Change& change) {
  visit(1, "site", change.site);
  visit(2, "then", change.then);
  visit(3, "now", change.now);
}

template <>
inline constexpr const char* kAbout<ReportOom::Answer> =
    "Who held the memory, in one line: all leaks if they held at least 30 %, otherwise the line of the code that held "
    "most, if that was at least 30 %";
template <class Visitor>
void Fields(Visitor& visit, ReportOom::Answer& answer) {
  visit(1, "site", answer.site, "of the line that held most; of leaks, of the largest one");
  visit(2, "leak", answer.leak, "whether it is leaks");
  visit(3, "other_leaks", answer.other_leaks, "leaks at other lines, whose bytes are included");
  visit(4, "bytes", answer.bytes);
  visit(5, "share", answer.share, "of all that was live on the device, 0 to 1");
}

template <>
inline constexpr const char* kAbout<ReportOom> =
    "An allocation that failed because memory was missing. Of a job at most 1,000 are listed, by rank";
template <class Visitor>
void Fields(Visitor& visit, ReportOom& oom) {
  visit(1, "step", oom.step);
  visit(2, "seconds", oom.seconds, "since the recording began");
  visit(3, "device", oom.device);
  visit(4, "requested", oom.requested);
  visit(5, "free", oom.free, "`null` if the device's size is unknown");
  visit(6, "largest_free", oom.largest_free, "the same");
  visit(7, "cause", oom.cause,
        "`amount`: there was not that much; `contiguity`: there was, but in pieces; `null` if unknown");
  visit(8, "level", field::OneOf{oom.level, {Level::kDriver, Level::kFramework}}, "whose allocation failed");
  visit(9, "live", oom.live, "with a framework's level: its blocks");
  visit(10, "reserved", oom.reserved, "its segments");
  visit(11, "largest_hole", oom.largest_hole, "the longest free run in one of them");
  visit(12, "device_free", oom.device_free, "what the device had left");
  visit(23, "pool", oom.pool,
        "PyTorch's allocator keeps blocks of up to 1 MiB and others in segments of their own: the pool of the request; "
        "`null` where the pools cannot be distinguished");
  visit(24, "pool_hole", oom.pool_hole, "the largest hole there");
  visit(25, "segment_bytes", oom.segment_bytes,
        "the segment that the request needs from the device if no hole is large enough");
  visit(13, "stack", oom.stack, "of the call that failed");
  visit(15, "holders", field::NamedValues{oom.holders, "site", "bytes"}, "what was live at that moment, largest first");
  visit(14, "would_fit", field::NamedValues{oom.would_fit, "setting", "free_bytes"},
        "of a framework's allocator: the settings with which the request would have been fulfilled, and the most that "
        "could then have been asked for");
  visit(16, "categories", field::NamedValues{oom.categories, "name", "bytes"},
        "all of the device that was live then, largest first");
  visit(17, "compared_step", oom.compared_step,
        "the last step that went well; `null` if there is none, and nothing below is known");
  visit(18, "same_point", oom.same_point,
        "whether it was looked at [at the same point](peaks.md#out-of-memory), or at its peak");
  visit(19, "then", oom.then, "bytes live of all sites that changed since");
  visit(20, "now", oom.now);
  visit(21, "changes", oom.changes, "sites that are listed, what grew most first");
  visit(22, "size_ratio", oom.size_ratio,
        "how large the step's objects are, over those of the same sites in the steps before; `null` if unknown");
  visit(27, "size_change", oom.size_change, "what `size_ratio` means: `same` within 10 %; `null` if it is unknown");
  visit(28, "went_on", oom.went_on,
        "whether the process completed steps afterwards; without steps, whether it allocated again");
  visit(0, "answer", oom.answer, "`null` if neither leaks nor one line held that much");
  visit(26, "held_by", oom.held_by,
        "who held the memory, by Python names, where a [walk](report.md#who-holds-it) was made at that moment");
  visit(0, "rank", oom.rank, "of the process that asked");
  visit(0, "pid", oom.pid);
}

struct ReportRelease {
  uint64_t calls = 0, segments = 0, bytes = 0;
  uint64_t least = 0, most = 0;
  struct Call {
    std::optional<int64_t> step;
    double seconds = 0;
    uint64_t bytes = 0;
  };
  std::vector<Call> times;
  std::vector<ReportFrame> stack;
  uint64_t processes = 1;
  uint64_t timed = 0;
  double seconds_at_least = 0, seconds_at_most = 0;
};

template <class Visitor>
void Fields(Visitor& visit, ReportRelease::Call& call) {
  visit(1, "step", call.step);
  visit(2, "seconds", call.seconds, "since the recording began");
  visit(3, "bytes", call.bytes);
}

template <>
inline constexpr const char* kAbout<ReportRelease> =
    "Where a framework's allocator released segments (`empty_cache()`)";
template <class Visitor>
void Fields(Visitor& visit, ReportRelease& release) {
  visit(1, "calls", release.calls, "of all processes, as the two below");
  visit(2, "segments", release.segments);
  visit(3, "bytes", release.bytes);
  visit(4, "least", release.least, "bytes of one call");
  visit(5, "most", release.most);
  visit(6, "times", release.times,
        "the first thousand calls; of several processes, those of the one that released most");
  visit(7, "stack", release.stack);
  visit(0, "processes", release.processes, "that released from there");
  visit(8, "timed", release.timed, "calls whose time is known: another event of their thread follows them");
  visit(9, "seconds", field::Interval{release.seconds_at_least, release.seconds_at_most, true, release.timed > 0},
        "in these calls together, at least and at most: a trace knows when each free began, and when the thread's next "
        "event came");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_OOM_H_
