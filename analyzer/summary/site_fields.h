// SPDX-License-Identifier: Apache-2.0
//
// Fields of stacks and sites, see summary_writer.h.
#ifndef ANALYZER_SUMMARY_SITE_FIELDS_H_
#define ANALYZER_SUMMARY_SITE_FIELDS_H_

#include "analyzer/model/report.h"

namespace vramtrack {

template <class Archive>
void Fields(Archive& archive, ReportFrame& frame) {
  archive(1, "function", frame.function);
  archive(2, "file", frame.file);
  archive(3, "line", frame.line);
  archive(4, "module", frame.module);
  archive(5, "offset", frame.offset);
  archive(6, "language", frame.language);
  archive(7, "origin", frame.origin);
  archive(8, "installed", frame.installed);
  archive(9, "inlined", frame.inlined);
  archive(10, "forward", frame.forward);
  archive(11, "shown_file", frame.shown_file);
}

template <class Archive>
void Fields(Archive& archive, ReportLeak& leak) {
  archive(1, "rate_bytes_per_step", leak.rate_bytes_per_step);
  archive(2, "rate_ci_low", leak.rate_ci_low);
  archive(3, "rate_ci_high", leak.rate_ci_high);
  archive(4, "rate_objects_per_step", leak.rate_objects_per_step);
  archive(5, "live_bytes", leak.live_bytes);
  archive(6, "bytes_at_peak", leak.bytes_at_peak);
  archive(7, "peak_without", leak.peak_without);
}

template <class Archive>
void Fields(Archive& archive, ReportKept::FitPoint& point) {
  archive(1, "step", point.step);
  archive(2, "bytes", point.bytes);
  archive(3, "low", point.low);
  archive(4, "high", point.high);
}

template <class Archive>
void Fields(Archive& archive, ReportKept& kept) {
  archive(1, "step", kept.step);
  archive(2, "bytes", kept.bytes);
  archive(3, "objects", kept.objects);
  archive(4, "fit", kept.fit);
  archive(5, "tested_steps", kept.tested_steps);
  archive(6, "first_tested_step", kept.first_tested_step);
  archive(7, "last_tested_step", kept.last_tested_step);
  archive(8, "steps_with_survivors", kept.steps_with_survivors);
  archive(9, "survivor_objects", kept.survivor_objects);
  archive(10, "survivor_bytes", kept.survivor_bytes);
  archive(11, "max_lifetime_steps", kept.max_lifetime_steps);
}

template <class Archive>
void Fields(Archive& archive, ReportLastUse& use) {
  archive(1, "objects", use.objects);
  archive(2, "latest_s", use.latest_s);
  archive(3, "latest_step", use.latest_step);
  archive(4, "idle_s", use.idle_s);
}

template <class Archive>
void Fields(Archive& archive, ReportFirstKernel& kernel) {
  archive(1, "function", kernel.function);
  archive(2, "share", kernel.share);
}

// Of a process: it has no id yet, and part_of is the index of another site.
template <class Archive>
void Fields(Archive& archive, ReportSite& site) {
  archive(1, "level", site.level);
  archive(2, "kind", site.kind);
  archive(3, "device", site.device);
  archive(4, "owner", site.owner);
  archive(5, "category", site.category);
  archive(6, "verdict", site.verdict);
  archive(7, "grade", site.grade);
  archive(8, "explanation", site.explanation);
  archive(9, "rate_bytes_per_step", site.rate_bytes_per_step);
  archive(10, "rate_ci_low", site.rate_ci_low);
  archive(11, "rate_ci_high", site.rate_ci_high);
  archive(12, "rate_objects_per_step", site.rate_objects_per_step);
  archive(13, "onset_step", site.onset_step);
  archive(14, "rate_unit", site.rate_unit);
  archive(15, "rate_bytes_per_second", site.rate_bytes_per_second);
  archive(16, "further_steps_needed", site.further_steps_needed);
  archive(17, "allocations", site.allocations);
  archive(18, "frees", site.frees);
  archive(19, "bytes_allocated", site.bytes_allocated);
  archive(20, "live_objects", site.live_objects);
  archive(21, "live_bytes", site.live_bytes);
  archive(22, "bytes_at_peak", site.bytes_at_peak);
  archive(23, "peak_without_site", site.peak_without_site);
  archive(24, "stack", site.frames);
  archive(25, "blame_frame", site.blame_frame);
  archive(26, "part_of", site.part_of);
  archive(27, "parts", site.parts);
  archive(28, "group", site.group);
  archive(29, "kept", site.kept);
  archive(30, "last_use", site.last_use);
  archive(31, "first_kernel", site.first_kernel);
  archive(32, "step_name", site.step_name);
  archive(33, "own_frame", site.own_frame);
}

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SITE_FIELDS_H_
