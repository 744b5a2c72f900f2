// SPDX-License-Identifier: Apache-2.0
//
// Fields of a summary's records, see summary_writer.h.
#ifndef ANALYZER_SUMMARY_SUMMARY_FIELDS_H_
#define ANALYZER_SUMMARY_SUMMARY_FIELDS_H_

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

// What identifies it is in the record.
template <class Archive>
void Fields(Archive& archive, ProcessSummary& process) {
  archive(1, "findings", process.findings);
  archive(2, "profile", process.profile);
}

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_FIELDS_H_
