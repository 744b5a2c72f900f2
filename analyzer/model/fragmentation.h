// SPDX-License-Identifier: Apache-2.0
//
// Memory that is reserved and not live: segments, pools, and advice on how to reduce it.
#ifndef ANALYZER_MODEL_FRAGMENTATION_H_
#define ANALYZER_MODEL_FRAGMENTATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"

namespace vramtrack {

struct ReportAdvice {
  std::string text;
  std::string setting;
  uint64_t reserved_before = 0, reserved_after = 0, saved_bytes = 0;
};

template <>
inline constexpr const char* kAbout<ReportAdvice> = "What would have helped: tried on the trace, or counted";
template <class Visitor>
void Fields(Visitor& visit, ReportAdvice& advice) {
  visit(1, "text", advice.text);
  visit(2, "setting", field::OrNull{advice.setting},
        "the line for the environment or the program; `null`: there is none");
  visit(3, "reserved_before", advice.reserved_before, "at the peak");
  visit(4, "reserved_after", advice.reserved_after);
  visit(5, "saved_bytes", advice.saved_bytes);
}

struct ReportPin {
  ReportSiteIndex site;
  uint64_t segments = 0, bytes = 0;
  std::vector<ReportFrame> stack;
};

template <>
inline constexpr const char* kAbout<ReportPin> =
    "The free bytes of the segments in which an object of this site is the last to go";
template <class Visitor>
void Fields(Visitor& visit, ReportPin& pin) {
  visit(1, "site", pin.site, "`null` if it is not among `sites[]`");
  visit(2, "segments", pin.segments);
  visit(3, "bytes", pin.bytes);
  visit(4, "stack", pin.stack);
}

struct ReportSegmentPool {
  uint32_t pool = 0;
  BlockSizeClass sizes = BlockSizeClass::kSmall;
  uint64_t segments = 0, reserved = 0, live = 0, free_releasable = 0, largest_free = 0;
};

template <>
inline constexpr const char* kAbout<ReportSegmentPool> =
    "Segments that serve the same requests: those of a stream, or of a graph; see [fragmentation](fragmentation.md)";
template <class Visitor>
void Fields(Visitor& visit, ReportSegmentPool& pool) {
  visit(1, "pool", pool.pool);
  visit(2, "sizes", pool.sizes, "of its blocks: `small` up to 1 MiB");
  visit(3, "segments", pool.segments);
  visit(4, "reserved", pool.reserved);
  visit(5, "live", pool.live);
  visit(6, "free_releasable", pool.free_releasable);
  visit(7, "largest_free", pool.largest_free);
}

struct ReportSegmentUse {
  std::optional<int64_t> step;
  uint64_t reserved = 0, live = 0, free_releasable = 0, free_pinned = 0;
};

template <>
inline constexpr const char* kAbout<ReportSegmentUse> = "reserved = live + free_releasable + free_pinned, to the byte";
template <class Visitor>
void Fields(Visitor& visit, ReportSegmentUse& use) {
  visit(1, "step", use.step);
  visit(2, "reserved", use.reserved);
  visit(3, "live", use.live);
  visit(4, "free_releasable", use.free_releasable);
  visit(5, "free_pinned", use.free_pinned);
}

struct ReportGrownSegments {
  BlockSizeClass sizes = BlockSizeClass::kSmall;
  uint64_t segment_bytes = 0, segments = 0, bytes = 0;
  uint64_t pools = 0;
};

template <>
inline constexpr const char* kAbout<ReportGrownSegments> = "Segments of one size that have become more";
template <class Visitor>
void Fields(Visitor& visit, ReportGrownSegments& grown) {
  visit(1, "sizes", grown.sizes, "of their blocks");
  visit(5, "pools", grown.pools, "that they are of");
  visit(2, "segment_bytes", grown.segment_bytes, "of one");
  visit(3, "segments", grown.segments);
  visit(4, "bytes", grown.bytes);
}

struct ReportReserveGrowth {
  double bytes_per_step = 0, ci_low = 0, ci_high = 0;
  std::optional<int64_t> first_step;
  uint64_t stairs = 0;
  // Segments at the end in addition to those at `first_step`, their bytes, the number of pools that they are in, and
  // the number of call stacks that requested them.
  uint64_t segments = 0, bytes = 0, pools = 0, stacks = 0;
  uint64_t free_releasable = 0, free_pinned = 0;
  std::vector<ReportGrownSegments> sizes;
  std::vector<ReportPin> pins;
  std::string explanation;
};

template <>
inline constexpr const char* kAbout<ReportReserveGrowth> =
    "A framework's allocator takes more and more from the device while what it hands out does not grow, see "
    "[growth](fragmentation.md#growth)";
template <class Visitor>
void Fields(Visitor& visit, ReportReserveGrowth& growth) {
  visit(1, "bytes_per_step", growth.bytes_per_step, "of what is reserved beyond the most that was live");
  visit(2, "ci_low", growth.ci_low, "95 % confidence interval");
  visit(3, "ci_high", growth.ci_high);
  visit(4, "first_step", growth.first_step, "from when on");
  visit(5, "stairs", growth.stairs, "in how many it grew");
  visit(6, "segments", growth.segments, "that are there at the end beyond those that were then");
  visit(7, "bytes", growth.bytes, "of them");
  visit(8, "pools", growth.pools, "that they are of");
  visit(9, "stacks", growth.stacks, "from how many places they were asked for");
  visit(10, "free_releasable", growth.free_releasable, "of the new ones, at the end of the last step");
  visit(11, "free_pinned", growth.free_pinned);
  visit(12, "sizes", growth.sizes, "the most bytes first");
  visit(13, "pins", growth.pins, "of the new ones");
  visit(14, "explanation", growth.explanation);
}

struct ReportFragmentation {
  uint64_t reserved = 0, live = 0, rounding = 0, free_releasable = 0, free_pinned = 0;
  uint64_t lower_bound = 0, upper_bound = 0;
  std::string refused;
  std::vector<ReportAdvice> advice;
  // Set for a device with a framework level.
  std::optional<ReportSegmentUse> at_reserved_peak;
  std::vector<ReportPin> pins;
  std::vector<ReportSegmentPool> pools;
  std::optional<ReportReserveGrowth> growth;
};

template <>
inline constexpr const char* kAbout<ReportFragmentation> =
    "At the peak, to the byte: reserved = live + rounding + free_releasable + free_pinned";
template <class Visitor>
void Fields(Visitor& visit, ReportFragmentation& fragmentation) {
  visit(1, "reserved", fragmentation.reserved);
  visit(2, "live", fragmentation.live);
  visit(3, "rounding", fragmentation.rounding, "more than was asked for, because of alignment");
  visit(4, "free_releasable", fragmentation.free_releasable, "free, in pieces that could be released");
  visit(5, "free_pinned", fragmentation.free_pinned, "free, in pieces that live blocks keep from being released");
  visit(7, "lower_bound", fragmentation.lower_bound, "what every allocator would have needed");
  visit(8, "upper_bound", fragmentation.upper_bound, "what one can do with");
  visit(9, "advice", fragmentation.advice, "the largest saving first");
  visit(10, "at_reserved_peak", fragmentation.at_reserved_peak,
        "with a framework's level, when its segments were largest");
  visit(12, "pins", fragmentation.pins, "at that moment, the most bytes first");
  visit(13, "pools", fragmentation.pools, "at that moment");
  visit(14, "growth", fragmentation.growth,
        "`null` where its segments do not grow step after step, or too few steps tell");
  visit(15, "refused", fragmentation.refused,
        "why nothing is known of it, in a line: `reserved` is then what is live; empty otherwise");
}

struct ReportMemoryPool {
  std::string pool;
  uint64_t allocations = 0, trims = 0;
  std::optional<uint64_t> release_threshold;
  uint64_t peak_live = 0;
  // The least that any pool needs, and what the placement of this pool took, in bytes.
  uint64_t lower_bound = 0, upper_bound = 0;
  // At the moment when most was free, provided that memory was released only by trimming: reserved = live + rounding +
  // free_pinned + free_releasable, to the byte.
  std::optional<int64_t> step;
  uint64_t reserved = 0, live = 0, rounding = 0, free_pinned = 0, free_releasable = 0;
  uint64_t free_releasable_at_least = 0, free_at_end = 0;
};

template <>
inline constexpr const char* kAbout<ReportMemoryPool> =
    "Of `cudaMallocAsync`, by pages of 2 MiB, see [pools](fragmentation.md#pools-of-the-driver). reserved = live + "
    "rounding + free_pinned + free_releasable, to the byte, when most was free, if nothing was released but by "
    "trimming";
template <class Visitor>
void Fields(Visitor& visit, ReportMemoryPool& pool) {
  visit(1, "pool", pool.pool, "`default`, or its handle; the last of 8 is the sum of the `others`");
  visit(2, "allocations", pool.allocations);
  visit(3, "trims", pool.trims);
  visit(4, "release_threshold", pool.release_threshold, "`null`: it is not known which pool one was set for");
  visit(5, "peak_live", pool.peak_live);
  visit(6, "lower_bound", pool.lower_bound, "what any pool needs");
  visit(7, "upper_bound", pool.upper_bound, "what this one's placement took");
  visit(8, "step", pool.step);
  visit(9, "reserved", pool.reserved);
  visit(10, "live", pool.live);
  visit(11, "rounding", pool.rounding);
  visit(12, "free_pinned", pool.free_pinned);
  visit(13, "free_releasable", pool.free_releasable);
  visit(14, "free_releasable_at_least", pool.free_releasable_at_least,
        "at any time, if the job waited after each free");
  visit(15, "free_at_end", pool.free_at_end, "of that, at the end");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_FRAGMENTATION_H_
