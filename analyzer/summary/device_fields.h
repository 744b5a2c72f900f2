// SPDX-License-Identifier: Apache-2.0
//
// Fields of devices, see summary_writer.h.
#ifndef ANALYZER_SUMMARY_DEVICE_FIELDS_H_
#define ANALYZER_SUMMARY_DEVICE_FIELDS_H_

#include "analyzer/model/report.h"

namespace vramtrack {

template <class Archive>
void Fields(Archive& archive, ReportFrameworkShare& share) {
  archive(1, "cached", share.cached);
  archive(2, "releasable", share.releasable);
  archive(3, "others", share.others);
  archive(4, "overhead", share.overhead);
  archive(5, "unattributed", share.unattributed);
  archive(6, "unplaced", share.unplaced);
}

template <class Archive>
void Fields(Archive& archive, ReportMoment& moment) {
  archive(1, "step", moment.step);
  archive(2, "device_used", moment.device_used);
  archive(3, "reserved", moment.reserved);
  archive(4, "live", moment.live);
  archive(5, "framework", moment.framework);
}

template <class Archive>
void Fields(Archive& archive, ReportGrowth& growth) {
  archive(1, "bytes_per_step", growth.bytes_per_step);
  archive(2, "ci_low", growth.ci_low);
  archive(3, "ci_high", growth.ci_high);
  archive(4, "steps_to_oom", growth.steps_to_oom);
  archive(5, "steps_to_oom_low", growth.steps_to_oom_low);
  archive(6, "steps_to_oom_high", growth.steps_to_oom_high);
  archive(7, "seconds_to_oom", growth.seconds_to_oom);
  archive(8, "refused", growth.refused);
}

template <class Archive>
void Fields(Archive& archive, ReportGrowths& growths) {
  archive(1, "live", growths.live);
  archive(2, "reserved", growths.reserved);
  archive(3, "device_used", growths.device_used);
}

template <class Archive>
void Fields(Archive& archive, ReportAdvice& advice) {
  archive(1, "text", advice.text);
  archive(2, "setting", advice.setting);
  archive(3, "reserved_before", advice.reserved_before);
  archive(4, "reserved_after", advice.reserved_after);
  archive(5, "saved_bytes", advice.saved_bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportPin& pin) {
  archive(1, "site", pin.site);
  archive(2, "segments", pin.segments);
  archive(3, "bytes", pin.bytes);
  archive(4, "stack", pin.stack);
}

template <class Archive>
void Fields(Archive& archive, ReportSegmentPool& pool) {
  archive(1, "pool", pool.pool);
  archive(2, "sizes", pool.sizes);
  archive(3, "segments", pool.segments);
  archive(4, "reserved", pool.reserved);
  archive(5, "live", pool.live);
  archive(6, "free_releasable", pool.free_releasable);
  archive(7, "largest_free", pool.largest_free);
  archive(8, "external", pool.external);
  archive(9, "unusable", pool.unusable);
}

template <class Archive>
void Fields(Archive& archive, ReportSegmentUse& use) {
  archive(1, "step", use.step);
  archive(2, "reserved", use.reserved);
  archive(3, "live", use.live);
  archive(4, "free_releasable", use.free_releasable);
  archive(5, "free_pinned", use.free_pinned);
}

template <class Archive>
void Fields(Archive& archive, ReportGrownSegments& segments) {
  archive(1, "sizes", segments.sizes);
  archive(2, "segment_bytes", segments.segment_bytes);
  archive(3, "segments", segments.segments);
  archive(4, "bytes", segments.bytes);
  archive(5, "pools", segments.pools);
}

template <class Archive>
void Fields(Archive& archive, ReportReserveGrowth& growth) {
  archive(1, "bytes_per_step", growth.bytes_per_step);
  archive(2, "ci_low", growth.ci_low);
  archive(3, "ci_high", growth.ci_high);
  archive(4, "first_step", growth.first_step);
  archive(5, "stairs", growth.stairs);
  archive(6, "segments", growth.segments);
  archive(7, "bytes", growth.bytes);
  archive(8, "pools", growth.pools);
  archive(9, "stacks", growth.stacks);
  archive(10, "free_releasable", growth.free_releasable);
  archive(11, "free_pinned", growth.free_pinned);
  archive(12, "sizes", growth.sizes);
  archive(13, "pins", growth.pins);
  archive(14, "explanation", growth.explanation);
}

template <class Archive>
void Fields(Archive& archive, ReportSegmentMap::Segment& segment) {
  archive(1, "address", segment.address);
  archive(2, "bytes", segment.bytes);
  archive(3, "pool", segment.pool);
  archive(4, "sizes", segment.sizes);
  archive(5, "live", segment.live);
  archive(6, "blocks", segment.blocks);
  archive(7, "pinned_by", segment.pinned_by);
}

template <class Archive>
void Fields(Archive& archive, ReportSegmentMap::Block& block) {
  archive(1, "offset", block.offset);
  archive(2, "bytes", block.bytes);
  archive(3, "site", block.site);
  archive(4, "category", block.category);
}

template <class Archive>
void Fields(Archive& archive, ReportSegmentMap& map) {
  archive(1, "step", map.step);
  archive(2, "segments", map.segments);
  archive(3, "blocks", map.blocks);
  archive(4, "other_segments", map.other_segments);
  archive(5, "other_bytes", map.other_bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportFragmentation& fragmentation) {
  archive(1, "reserved", fragmentation.reserved);
  archive(2, "live", fragmentation.live);
  archive(3, "rounding", fragmentation.rounding);
  archive(4, "free_releasable", fragmentation.free_releasable);
  archive(5, "free_pinned", fragmentation.free_pinned);
  // 6 is taken: older summaries have a field there.
  archive(7, "lower_bound", fragmentation.lower_bound);
  archive(8, "upper_bound", fragmentation.upper_bound);
  archive(9, "advice", fragmentation.advice);
  archive(10, "at_reserved_peak", fragmentation.at_reserved_peak);
  archive(11, "map", fragmentation.map);
  archive(12, "pins", fragmentation.pins);
  archive(13, "pools", fragmentation.pools);
  archive(14, "growth", fragmentation.growth);
  archive(15, "model_blocks", fragmentation.model_blocks);
  archive(16, "model_surprises", fragmentation.model_surprises);
}

template <class Archive>
void Fields(Archive& archive, ReportMemoryPool& pool) {
  archive(1, "pool", pool.pool);
  archive(2, "allocations", pool.allocations);
  archive(3, "trims", pool.trims);
  archive(4, "release_threshold", pool.release_threshold);
  archive(5, "peak_live", pool.peak_live);
  archive(6, "lower_bound", pool.lower_bound);
  archive(7, "upper_bound", pool.upper_bound);
  archive(8, "step", pool.step);
  archive(9, "reserved", pool.reserved);
  archive(10, "live", pool.live);
  archive(11, "rounding", pool.rounding);
  archive(12, "free_pinned", pool.free_pinned);
  archive(13, "free_releasable", pool.free_releasable);
  archive(14, "free_releasable_at_least", pool.free_releasable_at_least);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakCategory& category) {
  archive(1, "name", category.name);
  archive(2, "bytes", category.bytes);
  archive(3, "confidence", category.confidence);
  archive(4, "evidence", category.evidence);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakShare& share) {
  archive(1, "name", share.name);
  archive(2, "objects", share.objects);
  archive(3, "bytes", share.bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportSizeClass& size) {
  archive(1, "up_to", size.up_to);
  archive(2, "objects", size.objects);
  archive(3, "bytes", size.bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakWithout& without) {
  archive(1, "sites", without.sites);
  archive(2, "peak", without.peak);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakSet& peak) {
  archive(1, "categories", peak.categories);
  archive(2, "ages", peak.ages);
  archive(3, "sizes", peak.sizes);
  archive(4, "without", peak.without);
}

template <class Archive>
void Fields(Archive& archive, ReportPattern& pattern) {
  archive(1, "pattern", pattern.pattern);
  archive(2, "category", pattern.category);
  archive(3, "site", pattern.site);
  archive(4, "sites", pattern.sites);
  archive(5, "objects", pattern.objects);
  archive(6, "bytes", pattern.bytes);
  archive(7, "peak_saved", pattern.peak_saved);
  archive(8, "explanation", pattern.explanation);
}

template <class Archive>
void Fields(Archive& archive, ReportWork::Kind& kind) {
  archive(1, "kind", kind.kind);
  archive(2, "count", kind.count);
  archive(3, "busy_s", kind.busy_s);
  archive(4, "per_step", kind.per_step);
  archive(5, "least_per_step", kind.least_per_step);
  archive(6, "most_per_step", kind.most_per_step);
  archive(7, "busy_s_per_step", kind.busy_s_per_step);
}

template <class Archive>
void Fields(Archive& archive, ReportWork& work) {
  archive(1, "kinds", work.kinds);
  archive(2, "busy_s", work.busy_s);
  archive(3, "steps", work.steps);
  archive(4, "busy_s_per_step", work.busy_s_per_step);
  archive(5, "busy_share", work.busy_share);
}

template <class Archive>
void Fields(Archive& archive, ReportOnlyCupti& only) {
  archive(1, "library", only.library);
  archive(2, "at_peak", only.at_peak);
  archive(3, "at_end", only.at_end);
}

template <class Archive>
void Fields(Archive& archive, ReportDevice& device) {
  archive(1, "index", device.index);
  archive(2, "name", device.name);
  archive(3, "total_bytes", device.total_bytes);
  archive(4, "peak", device.peak);
  archive(5, "end", device.end);
  archive(6, "peak_set", device.peak_set);
  archive(7, "growth", device.growth);
  archive(8, "growth_of", device.growth_of);
  archive(9, "fragmentation", device.fragmentation);
  archive(10, "memory_pools", device.memory_pools);
  archive(11, "unattributed_bytes", device.unattributed_bytes);
  archive(12, "only_cupti", device.only_cupti);
  archive(13, "work", device.work);
  archive(14, "patterns", device.patterns);
  archive(15, "other_owners", device.other_owners);
  archive(16, "unexplained_growth", device.unexplained_growth);
  archive(17, "last_step", device.last_step);
}

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_DEVICE_FIELDS_H_
