// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SUMMARY_STACK_TABLE_H_
#define ANALYZER_SUMMARY_STACK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// A hash of a stack's symbolized frames, 16 bytes long: the same frames have the same key in every process and on every
// machine. It is made with XXH3, which does not protect against forgery.
using StackKey = std::string;
constexpr size_t kStackKeyBytes = 16;
// The largest accepted number of frames; no recorder writes as many.
constexpr size_t kMostStackFrames = 1 << 14;

std::string Hash128(std::string_view bytes);

// The stacks of a summary and their frames, each stored once. Thread-compatible.
class StackTable {
 public:
  // Adds the frames and the stack unless they exist already. `frames` must not be empty.
  StackKey Add(const std::vector<ReportFrame>& frames);
  // Adds the stack that another table holds under `key`.
  void Copy(const StackTable& other, const StackKey& key);
  // Returns false if the table has no stack with this key.
  bool Find(const StackKey& key, std::vector<ReportFrame>* frames) const;
  bool Has(const StackKey& key) const { return stacks_.count(key) != 0; }
  size_t size() const { return stacks_.size(); }

  // Appends the fields of the summary's message, in an order that depends only on the contents of the table.
  void AppendTo(std::string* message) const;
  // Add one of these fields. All frames must come before the first stack. Throws protozero::exception, and
  // std::runtime_error for invalid contents.
  void AddFrame(std::string_view frame);
  void AddStack(std::string_view stack);

 private:
  struct Frame {
    std::string encoded;
    ReportFrame decoded;
  };
  uint32_t Intern(std::string encoded, const ReportFrame& decoded);

  std::map<StackKey, std::vector<uint32_t>> stacks_;
  std::vector<Frame> frames_;
  std::unordered_map<std::string, uint32_t> number_of_frame_;  // by `encoded`
  std::vector<uint32_t> read_;                                 // frames in the order of the file
};

// The stacks of one record, which refers to them by number. Thread-compatible.
class RecordStacks {
 public:
  // Constructs it for writing: stacks are added to `table`, which must outlive it.
  explicit RecordStacks(StackTable* table) : table_(table), to_(table) {}
  // Constructs it for reading. The table must outlive it.
  RecordStacks(const StackTable& table, std::vector<StackKey> keys) : table_(&table), keys_(std::move(keys)) {}

  uint64_t Number(const std::vector<ReportFrame>& frames);
  // Throws std::runtime_error if the number is unknown.
  void Find(uint64_t number, std::vector<ReportFrame>* frames) const;
  const std::vector<StackKey>& keys() const { return keys_; }

 private:
  const StackTable* const table_;
  StackTable* const to_ = nullptr;
  std::vector<StackKey> keys_;
  std::map<StackKey, uint64_t> numbers_;
};

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_STACK_TABLE_H_
