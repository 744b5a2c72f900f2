// SPDX-License-Identifier: Apache-2.0
//
// Fields of what is found in a process, see summary_writer.h.
#ifndef ANALYZER_SUMMARY_FINDINGS_FIELDS_H_
#define ANALYZER_SUMMARY_FINDINGS_FIELDS_H_

#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"
#include "analyzer/summary/device_fields.h"
#include "analyzer/summary/site_fields.h"

namespace vramtrack {

template <class Archive>
void Fields(Archive& archive, ReportActivities::OnlyCupti& only) {
  archive(1, "library", only.library);
  archive(2, "kind", only.kind);
  archive(3, "device", only.device);
  archive(4, "allocations", only.allocations);
  archive(5, "bytes", only.bytes);
  archive(6, "live_objects", only.live_objects);
  archive(7, "live_bytes", only.live_bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportActivities::OnlyHooks& only) {
  archive(1, "kind", only.kind);
  archive(2, "allocations", only.allocations);
  archive(3, "bytes", only.bytes);
  archive(4, "reported", only.reported);
}

template <class Archive>
void Fields(Archive& archive, ReportActivities::Missing& missing) {
  archive(1, "from_s", missing.from_s);
  archive(2, "to_s", missing.to_s);
  archive(3, "why", missing.why);
}

template <class Archive>
void Fields(Archive& archive, ReportActivities& activities) {
  archive(1, "records", activities.records);
  archive(2, "dropped", activities.dropped);
  archive(3, "unwritten", activities.unwritten);
  archive(4, "joined", activities.joined);
  archive(5, "joined_bytes", activities.joined_bytes);
  archive(6, "other_sizes", activities.other_sizes);
  archive(7, "only_cupti", activities.only_cupti);
  archive(8, "only_hooks", activities.only_hooks);
  archive(9, "missing", activities.missing);
}

template <class Archive>
void Fields(Archive& archive, ReportProcess& process) {
  archive(1, "pid", process.pid);
  archive(2, "parent_pid", process.parent_pid);
  archive(3, "rank", process.rank);
  archive(4, "command", process.command);
  archive(5, "complete", process.complete);
  archive(6, "incomplete_why", process.incomplete_why);
  archive(7, "events", process.events);
  archive(8, "lost_events", process.lost_events);
  archive(9, "duration_s", process.duration_s);
  archive(10, "activities", process.activities);
  archive(11, "run_id", process.run_id);
}

template <class Archive>
void Fields(Archive& archive, ReportStepRounds& rounds) {
  archive(1, "steps", rounds.steps);
  archive(2, "count", rounds.count);
}

template <class Archive>
void Fields(Archive& archive, ReportPhase& phase) {
  archive(1, "source", phase.source);
  archive(2, "name", phase.name);
  archive(3, "unit", phase.unit);
  archive(4, "count", phase.count);
  archive(5, "first_step", phase.first_step);
  archive(6, "share", phase.share);
}

template <class Archive>
void Fields(Archive& archive, ReportSteps& steps) {
  archive(1, "count", steps.count);
  archive(2, "source", steps.source);
  archive(3, "confidence", steps.confidence);
  archive(4, "unit", steps.unit);
  archive(5, "window_bytes", steps.window_bytes);
  archive(6, "rounds", steps.rounds);
  archive(7, "name", steps.name);
  archive(8, "coverage", steps.coverage);
  archive(9, "judged", steps.judged);
  archive(10, "runner_up", steps.runner_up);
  archive(11, "runner_up_count", steps.runner_up_count);
  archive(12, "phases", steps.phases);
}

template <class Archive>
void Fields(Archive& archive, ReportComposition& composition) {
  archive(1, "categories", composition.categories);
  archive(2, "sites", composition.sites);
  archive(3, "other_sites", composition.other_sites);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakStep& step) {
  archive(1, "step", step.step);
  archive(2, "event", step.event);
  archive(3, "seconds", step.seconds);
  archive(4, "live", step.live);
  archive(5, "consists_of", step.consists_of);
}

template <class Archive>
void Fields(Archive& archive, ReportWithinSteps& within) {
  archive(1, "events", within.events);
  archive(2, "position", within.position);
  archive(3, "low", within.low);
  archive(4, "high", within.high);
}

template <class Archive>
void Fields(Archive& archive, ReportTimeline::Series& series) {
  archive(1, "low", series.low);
  archive(2, "high", series.high);
}

template <class Archive>
void Fields(Archive& archive, ReportTimeline& timeline) {
  archive(1, "device", timeline.device);
  archive(2, "unit", timeline.unit);
  archive(3, "position", timeline.position);
  archive(4, "device_used", timeline.device_used);
  archive(5, "reserved", timeline.reserved);
  archive(6, "live", timeline.live);
  archive(7, "categories", timeline.categories);
  archive(8, "at_high", timeline.at_high);
  archive(9, "peak_step", timeline.peak_step);
  archive(10, "within_steps", timeline.within_steps);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakLine& line) {
  archive(1, "line", line.line);
  archive(2, "site", line.site);
  archive(3, "leak", line.leak);
  archive(4, "sites", line.sites);
  archive(5, "bytes", line.bytes);
  archive(6, "peak_without", line.peak_without);
  archive(7, "category", line.category);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakLines& lines) {
  archive(1, "device", lines.device);
  archive(2, "live", lines.live);
  archive(3, "lines", lines.lines);
  archive(4, "other_sites", lines.other_sites);
  archive(5, "other_bytes", lines.other_bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakStacks::Node& node) {
  archive(1, "parent", node.parent);
  archive(2, "site", node.site);
  archive(3, "frame", node.frame);
  archive(4, "bytes", node.bytes);
  archive(5, "sites", node.sites);
}

template <class Archive>
void Fields(Archive& archive, ReportPeakStacks& stacks) {
  archive(1, "device", stacks.device);
  archive(2, "live", stacks.live);
  archive(3, "nodes", stacks.nodes);
  archive(4, "other_bytes", stacks.other_bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportOom::Change& change) {
  archive(1, "site", change.site);
  archive(2, "then", change.then);
  archive(3, "now", change.now);
}

template <class Archive>
void Fields(Archive& archive, ReportOom& oom) {
  archive(1, "step", oom.step);
  archive(2, "seconds", oom.seconds);
  archive(3, "device", oom.device);
  archive(4, "requested", oom.requested);
  archive(5, "free", oom.free);
  archive(6, "largest_free", oom.largest_free);
  archive(7, "cause", oom.cause);
  archive(8, "level", oom.level);
  archive(9, "live", oom.live);
  archive(10, "reserved", oom.reserved);
  archive(11, "largest_hole", oom.largest_hole);
  archive(12, "device_free", oom.device_free);
  archive(13, "stack", oom.stack);
  archive(14, "would_fit", oom.would_fit);
  archive(15, "holders", oom.holders);
  archive(16, "categories", oom.categories);
  archive(17, "compared_step", oom.compared_step);
  archive(18, "same_point", oom.same_point);
  archive(19, "then", oom.then);
  archive(20, "now", oom.now);
  archive(21, "changes", oom.changes);
  archive(22, "size_ratio", oom.size_ratio);
  archive(23, "pool", oom.pool);
  archive(24, "pool_hole", oom.pool_hole);
  archive(25, "segment_bytes", oom.segment_bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportRelease::Call& call) {
  archive(1, "step", call.step);
  archive(2, "seconds", call.seconds);
  archive(3, "bytes", call.bytes);
}

template <class Archive>
void Fields(Archive& archive, ReportRelease& release) {
  archive(1, "calls", release.calls);
  archive(2, "segments", release.segments);
  archive(3, "bytes", release.bytes);
  archive(4, "least", release.least);
  archive(5, "most", release.most);
  archive(6, "times", release.times);
  archive(7, "stack", release.stack);
}

template <class Archive>
void Fields(Archive& archive, ProcessFindings& findings) {
  archive(1, "process", findings.process);
  archive(2, "steps", findings.steps);
  archive(3, "devices", findings.devices);
  archive(4, "sites", findings.sites);
  archive(5, "verdict_counts", findings.verdict_counts);
  archive(6, "timeline", findings.timeline);
  archive(7, "peak_lines", findings.peak_lines);
  archive(8, "peak_stacks", findings.peak_stacks);
  archive(9, "oom", findings.oom);
  archive(10, "releases", findings.releases);
  archive(11, "warnings", findings.warnings);
  archive(12, "unsure", findings.unsure);
  archive(13, "further_steps_needed", findings.further_steps_needed);
}

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_FINDINGS_FIELDS_H_
