// SPDX-License-Identifier: Apache-2.0
//
// The fields of a summary's records and of the step profiles in them, see summary_writer.h.
#ifndef ANALYZER_SUMMARY_SUMMARY_FIELDS_H_
#define ANALYZER_SUMMARY_SUMMARY_FIELDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/profile/step_profile.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {

// Visits one member of all rows as a list, which is empty if all its values are 0.
template <class Archive, class Row, class Value>
void Column(Archive& archive, uint32_t number, const char* name, std::vector<Row>& rows, Value Row::*member) {
  std::vector<Value> values;
  const auto is_set = [member](const Row& row) { return row.*member != 0; };
  if (std::any_of(rows.begin(), rows.end(), is_set)) {
    for (const Row& row : rows) values.push_back(row.*member);
  }
  archive(number, name, values);
  if (rows.size() < values.size()) rows.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) rows[i].*member = values[i];
}

template <class Archive>
void Fields(Archive& archive, SiteWindows& windows) {
  Column(archive, 1, "births", windows.sums, &SiteWindow::births);
  Column(archive, 2, "born_bytes", windows.sums, &SiteWindow::born_bytes);
  Column(archive, 3, "deaths", windows.sums, &SiteWindow::deaths);
  Column(archive, 4, "died_bytes", windows.sums, &SiteWindow::died_bytes);
  Column(archive, 5, "survivors", windows.sums, &SiteWindow::survivors);
  Column(archive, 6, "survivor_bytes", windows.sums, &SiteWindow::survivor_bytes);
  Column(archive, 7, "live", windows.sums, &SiteWindow::live);
  Column(archive, 8, "at_peak", windows.sums, &SiteWindow::at_peak);
  Column(archive, 9, "own", windows.sums, &SiteWindow::own);
  Column(archive, 10, "at_high", windows.sums, &SiteWindow::at_high);
  Column(archive, 11, "own_most", windows.sums, &SiteWindow::own_most);
  Column(archive, 12, "made", windows.sums, &SiteWindow::made);
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
  archive(2, "low", rate.ci_low);
  archive(3, "high", rate.ci_high);
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
  archive(18, "bytes_allocated", site.bytes_allocated);
  archive(19, "bytes_at_peak", site.bytes_at_peak);
  archive(20, "own_peak", site.own_peak);
  archive(22, "several_threads", site.several_threads);
  archive(23, "sizes", site.sizes.sizes);
  archive(24, "many_sizes", site.sizes.many);
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
  Column(archive, 7, "peak", device.bins, &DeviceBin::peak);
  Column(archive, 8, "fragmentation", device.bins, &DeviceBin::fragmentation);
  Column(archive, 9, "highest", device.bins, &DeviceBin::highest);
  Column(archive, 10, "reserved_highest", device.bins, &DeviceBin::reserved_highest);
  Column(archive, 11, "at_highest", device.bins, &DeviceBin::at_highest);
  Column(archive, 12, "floor", device.bins, &DeviceBin::floor);
  Column(archive, 13, "peak_sum", device.bins, &DeviceBin::peak_sum);
  Column(archive, 14, "concurrent", device.bins, &DeviceBin::concurrent);
}

template <class Archive>
void Fields(Archive& archive, StepProfile& profile) {
  archive(1, "steps", profile.steps);
  archive(2, "warmup_end", profile.warmup_end);
  archive(3, "steps_in_window", profile.steps_in_window);
  archive(4, "window_bytes", profile.window_bytes);
  archive(5, "executable", profile.roots.executable);
  archive(6, "working_directory", profile.roots.working_directory);
  archive(7, "script_directory", profile.roots.script_directory);
  archive(8, "sites", profile.sites);
  archive(9, "other_sites", profile.other_sites);
  archive(10, "leaks", profile.leaks);
  archive(11, "devices", profile.devices);
  Column(archive, 12, "mark_sum", profile.window_steps, &WindowSteps::mark_sum);
  Column(archive, 13, "marks", profile.window_steps, &WindowSteps::marks);
  archive(14, "ordered", profile.ordered);
  archive(15, "events", profile.events);
  archive(16, "event_hash", profile.event_hash);
  archive(17, "sites_hash", profile.sites_hash);
  Column(archive, 18, "first_steps", profile.window_steps, &WindowSteps::first);
  Column(archive, 19, "last_steps", profile.window_steps, &WindowSteps::last);
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
