// SPDX-License-Identifier: Apache-2.0
//
// The fields of a summary's records and of the step profiles in them, see summary_writer.h.
#ifndef ANALYZER_SUMMARY_SUMMARY_FIELDS_H_
#define ANALYZER_SUMMARY_SUMMARY_FIELDS_H_

#include <cstdint>

#include "analyzer/profile/step_profile.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {

template <class Archive>
void Fields(Archive& archive, SiteWindows& windows) {
  archive(1, "births", windows.births);
  archive(2, "born_bytes", windows.born_bytes);
  archive(3, "deaths", windows.deaths);
  archive(4, "died_bytes", windows.died_bytes);
  archive(5, "survivors", windows.survivors);
  archive(6, "survivor_bytes", windows.survivor_bytes);
  archive(7, "live", windows.live);
  archive(8, "at_peak", windows.at_peak);
  archive(9, "own", windows.own);
  archive(10, "at_high", windows.at_high);
  archive(11, "own_most", windows.own_most);
  archive(12, "made", windows.made);
}

template <class Archive>
void Fields(Archive& archive, ProfileBlockSize& size) {
  archive(1, "bytes", size.bytes);
  archive(2, "count", size.count);
  archive(3, "exact", size.exact);
}

template <class Archive>
void Fields(Archive& archive, ProfileRate& rate) {
  archive(1, "bytes_per_step", rate.bytes_per_step);
  archive(2, "low", rate.low);
  archive(3, "high", rate.high);
  archive(4, "objects_per_step", rate.objects_per_step);
}

template <class Archive>
void Fields(Archive& archive, ProfileSite& site) {
  archive(1, "kind", site.kind);
  archive(2, "device", site.device);
  archive(3, "number", site.number);
  archive(4, "category", site.category);
  archive(5, "verdict", site.verdict);
  archive(6, "unjudged", site.unjudged);
  archive(7, "segments", site.segments);
  archive(8, "stack", site.frames);
  archive(9, "births_per_active_step", site.births_per_active_step);
  archive(10, "bytes_per_birth", site.bytes_per_birth);
  archive(11, "lifetime_steps", site.lifetime_steps);
  archive(12, "phase", site.phase);
  archive(13, "births_per_step", site.births_per_step);
  archive(14, "recurring", site.recurring);
  archive(15, "rate", site.rate);
  archive(16, "leak", site.leak);
  archive(17, "allocations", site.allocations);
  archive(18, "bytes_allocated", site.bytes_allocated);
  archive(19, "bytes_at_peak", site.bytes_at_peak);
  archive(20, "own_peak", site.own_peak);
  archive(21, "live_bytes", site.live_bytes);
  archive(22, "several_threads", site.several_threads);
  archive(23, "sizes", site.sizes);
  archive(24, "many_sizes", site.many_sizes);
  archive(25, "events", site.events);
  archive(26, "event_sum", site.event_sum);
  archive(27, "windows", site.windows);
}

template <class Archive>
void Fields(Archive& archive, ProfileLeak& leak) {
  archive(1, "leading", leak.leading);
  archive(2, "call_frame", leak.call_frame);
}

template <class Archive>
void Fields(Archive& archive, ProfileDevice& device) {
  archive(1, "index", device.index);
  archive(2, "run_peak", device.run_peak);
  archive(3, "run_reserved_peak", device.run_reserved_peak);
  archive(4, "run_fragmentation", device.run_fragmentation);
  archive(5, "peak_step", device.peak_step);
  archive(6, "steps_in_bin", device.steps_in_bin);
  archive(7, "peak", device.peak);
  archive(8, "fragmentation", device.fragmentation);
  archive(9, "highest", device.highest);
  archive(10, "reserved_highest", device.reserved_highest);
  archive(11, "at_highest", device.at_highest);
  archive(12, "floor", device.floor);
  archive(13, "peak_sum", device.peak_sum);
  archive(14, "concurrent", device.concurrent);
}

template <class Archive>
void Fields(Archive& archive, StepProfile& profile) {
  archive(1, "steps", profile.steps);
  archive(2, "warmup_end", profile.warmup_end);
  archive(3, "steps_in_window", profile.steps_in_window);
  archive(4, "window_bytes", profile.window_bytes);
  archive(5, "executable", profile.executable);
  archive(6, "working_directory", profile.working_directory);
  archive(7, "script_directory", profile.script_directory);
  archive(8, "sites", profile.sites);
  archive(9, "other_sites", profile.other_sites);
  archive(10, "leaks", profile.leaks);
  archive(11, "devices", profile.devices);
  archive(12, "mark_sum", profile.mark_sum);
  archive(13, "marks", profile.marks);
  archive(14, "ordered", profile.ordered);
  archive(15, "events", profile.events);
  archive(16, "event_hash", profile.event_hash);
  archive(17, "sites_hash", profile.sites_hash);
  archive(18, "first_steps", profile.first_steps);
  archive(19, "last_steps", profile.last_steps);
}

template <class Archive>
void Fields(Archive& archive, ProcessIdentity& identity) {
  archive(1, "host", identity.host);
  archive(2, "start_unix_ns", identity.start_unix_ns);
  archive(3, "pid", identity.pid);
}

template <class Archive>
void Fields(Archive& archive, SummaryRecord& record) {
  archive(1, "events", record.events);
  archive(2, "content", record.content);
  archive(3, "detail", record.detail);
  archive(4, "tool_version", record.tool_version);
  archive(5, "stack_keys", record.stacks);
  archive(6, "process", record.body);
}

// Does not visit the identity, which is in the record.
template <class Archive>
void Fields(Archive& archive, ProcessSummary& process) {
  archive(1, "findings", process.findings);
  archive(2, "profile", process.profile);
}

// The first field of a summary; it distinguishes summaries from other messages.
constexpr char kSummaryFormat[] = "vramtrack summary";
// New fields do not need a new version. A new version means that old readers would misread the file.
constexpr uint64_t kSummaryVersion = 2;

// Field numbers of the outer messages.
enum SummaryField : uint32_t {
  kSummaryFormatField = 1,
  kSummaryVersionField = 2,
  kSummaryProcesses = 3,  // the number of processes
  kSummaryFrame = 4,
  kSummaryStack = 5,
  kSummaryRecord = 6,
  kSummaryLack = 7,       // a line about a file that could not be read
  kSummaryLacksMore = 8,  // there were more such lines
};
enum StackField : uint32_t { kStackKey = 1, kStackFrames = 2 };

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_FIELDS_H_
