// SPDX-License-Identifier: Apache-2.0
//
// The fields of a summary's records, see summary_writer.h.
#ifndef ANALYZER_SUMMARY_SUMMARY_FIELDS_H_
#define ANALYZER_SUMMARY_SUMMARY_FIELDS_H_

#include <cstdint>

#include "analyzer/profile/step_profile_fields.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {

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
constexpr uint64_t kSummaryVersion = 1;

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
