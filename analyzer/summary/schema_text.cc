// SPDX-License-Identifier: Apache-2.0
#include "analyzer/summary/schema_text.h"

#include "absl/strings/str_replace.h"
#include "analyzer/summary/summary_fields.h"

namespace vramtrack {

std::string SummaryProto() {
  SummarySchema::Messages messages;
  SummarySchema::Add<ProcessIdentity>(&messages);
  const std::string record = SummarySchema::Add<SummaryRecord>(&messages);
  const std::string process = SummarySchema::Add<ProcessSummary>(&messages);
  SummarySchema::Add<ReportFrame>(&messages);
  messages[record] = absl::StrReplaceAll(messages[record], {{"bytes process", process + " process"}});
  std::string text =
      absl::StrCat(R"(// SPDX-License-Identifier: Apache-2.0
//
// The summaries that `vramtrack summarize` and `vramtrack merge` write: gzip of one message Summary. Made from the
// Fields functions next to it; a test says how when the two differ.
//
// Integers in lists are the differences from one to the next, the first one's from 0, modulo 2^64. Where a field holds
// frames, it is the number of their stack in SummaryRecord.stack_keys, from 0 on.
syntax = "proto3";

package vramtrack.summary;

message Summary {
  string format = )",
                   kSummaryFormatField, ";  // \"", kSummaryFormat, "\"\n  uint64 version = ", kSummaryVersionField,
                   ";\n  uint64 processes = ", kSummaryProcesses, ";\n  repeated Frame frames = ", kSummaryFrame,
                   ";\n  repeated Stack stacks = ", kSummaryStack, ";\n  repeated Record records = ", kSummaryRecord,
                   ";  // by identity\n  repeated string lacks = ", kSummaryLack,
                   ";  // what could not be read, sorted\n  bool lacks_more = ", kSummaryLacksMore, R"(;
}

message Stack {
  bytes key = )",
                   kStackKey, R"(;  // 128 bits of the frames
  repeated uint64 frames = )",
                   kStackFrames, R"(;  // indices of Summary.frames, most recent call first
}

message Record {
  ProcessIdentity identity = 1;
  SummaryRecord record = 2;
}
)");
  for (const auto& [name, fields] : messages) absl::StrAppend(&text, "\nmessage ", name, " {\n", fields, "}\n");
  return text;
}

}  // namespace vramtrack
