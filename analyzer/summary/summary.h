// SPDX-License-Identifier: Apache-2.0
//
// A summary: a small file with the findings about any number of processes: docs/summarize.md. It is one gzipped
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

// The record of a process, as in the file. If there are several records of the same process, only `events`, `content`
// and `detail` decide which one is kept.
struct SummaryRecord {
  uint64_t events = 0;
  std::string content;  // Hash128 of its first encoding, in full detail
  Detail detail = Detail::kFull;
  std::string tool_version;
  std::vector<StackKey> stacks;
  std::string body;  // the encoded findings and other data
};

// The records of any number of processes. Joining is associative, commutative and idempotent. Thread-compatible.
class Summary {
 public:
  void Add(const ProcessSummary& process);
  // Adds the processes of another summary. For a process that is in both, the record with more events is kept.
  void Join(const Summary& other);
  // Reduces the detail of all processes if there are many of them. No process has more detail than `least` afterwards.
  void Reduce(Detail least = Detail::kFull);

  // Adds a line about a file that could not be read completely. If there are too many lines, the first ones in
  // alphabetical order are kept, so that joining remains associative and commutative.
  void AddLack(std::string line);
  // Returns these lines, sorted; the last one says if there were more.
  std::vector<std::string> Lacks() const;

  const std::map<ProcessIdentity, SummaryRecord>& records() const { return records_; }
  // Decodes a record. The error is one line.
  absl::StatusOr<ProcessSummary> Decode(const ProcessIdentity& identity, const SummaryRecord& record) const;

  // Encodes the summary. The same processes give the same bytes.
  std::string Write() const;
  // Decodes a summary. From a truncated file it returns the part before the cut and sets `damage` to one line;
  // otherwise `damage` is empty. The error is one line that begins with `name`.
  static absl::StatusOr<Summary> Read(std::string_view bytes, const std::string& name, std::string* damage);

 private:
  void Put(const ProcessIdentity& identity, SummaryRecord record, const StackTable& stacks);
  void ReduceRecord(const ProcessIdentity& identity, Detail detail, SummaryRecord* record);

  std::map<ProcessIdentity, SummaryRecord> records_;
  // The processes whose records have more detail than `reduced_to_`. They are listed so that merging a file need not
  // visit all records.
  std::vector<ProcessIdentity> not_reduced_;
  Detail reduced_to_ = Detail::kFull;
  std::set<std::string> lacks_;
  bool lacks_more_ = false;
  StackTable stacks_;  // can have more stacks than the records need
  std::string name_;   // the file that all records were read from; empty if there are several or none
};

// Returns whether the file at `path` is a summary, by its first bytes; false if it cannot be read.
bool IsSummaryFile(const std::string& path);

// Reads a summary file; see Summary::Read.
absl::StatusOr<Summary> ReadSummaryFile(const std::string& path, std::string* damage);

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_H_
