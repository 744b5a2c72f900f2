// SPDX-License-Identifier: Apache-2.0
//
// A small file that says of any number of processes what their traces say: docs/summarize.md. It is gzip of one
// protobuf message, see summary.proto.
#ifndef ANALYZER_SUMMARY_SUMMARY_H_
#define ANALYZER_SUMMARY_SUMMARY_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/stack_table.h"

namespace vramtrack {

// A process's record, as it is in the file. Which of several of the same process stays is decided by `events`,
// `content` and `detail` alone.
struct SummaryRecord {
  uint64_t events = 0;
  std::string content;  // Hash128 of what was first written of it, in full detail
  Detail detail = Detail::kFull;
  std::string tool_version;
  std::vector<StackKey> stacks;
  std::string body;  // findings and what else is known
};

// Any number of processes. Joining is associative, commutative and idempotent. Thread-compatible.
class Summary {
 public:
  void Add(const ProcessSummary& process);
  // Of the same process that stays of which more was recorded.
  void Join(const Summary& other);
  // Where there are many processes less is kept of each; no more than `least` in any case.
  void Reduce(Detail least = Detail::kFull);

  // Keeps what the summary lacks: one line on a file that could not be read, or not all of it. Of very many the first
  // by alphabet stay, so that joining keeps its laws.
  void AddLack(std::string line);
  // One line each, sorted; the last says if there were more.
  std::vector<std::string> Lacks() const;

  const std::map<ProcessIdentity, SummaryRecord>& records() const { return records_; }
  // The error is one line.
  absl::StatusOr<ProcessSummary> Decode(const ProcessIdentity& identity, const SummaryRecord& record) const;

  // The same processes give the same bytes.
  std::string Write() const;
  // Of a file that is cut short what was there before the cut; `damage` is then one line, otherwise empty. The error is
  // one line that begins with `name`.
  static absl::StatusOr<Summary> Read(std::string_view bytes, const std::string& name, std::string* damage);

 private:
  void Put(const ProcessIdentity& identity, SummaryRecord record, const StackTable& stacks);
  void ReduceRecord(const ProcessIdentity& identity, Detail detail, SummaryRecord* record);

  std::map<ProcessIdentity, SummaryRecord> records_;
  // All other records have `reduced_to_` or less detail: not every merged file is a walk over all records.
  std::vector<ProcessIdentity> not_reduced_;
  Detail reduced_to_ = Detail::kFull;
  std::set<std::string> lacks_;
  bool lacks_more_ = false;
  StackTable stacks_;  // maybe more than the records need
  std::string name_;   // of the file that all of it was read from; empty: of several, or of none
};

// Whether a file begins as summaries do.
bool IsSummary(std::string_view beginning);

// Whether the file at `path` begins as summaries do; false if it cannot be read.
bool IsSummaryFile(const std::string& path);

// As Summary::Read.
absl::StatusOr<Summary> ReadSummaryFile(const std::string& path, std::string* damage);

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_H_
