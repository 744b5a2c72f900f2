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

// 128 bits of a stack's symbolized frames, as 16 bytes: the same frames have the same key in every process and on every
// machine. Of XXH3, which is no protection against forgery.
using StackKey = std::string;
constexpr size_t kStackKeyBytes = 16;
// More than any recorder writes.
constexpr size_t kMostStackFrames = 1 << 14;

std::string Hash128(std::string_view bytes);

// The stacks of a summary, each once, and their frames, each once. Thread-compatible.
class StackTable {
 public:
  // Adds what is not there yet. `frames` are not empty.
  StackKey Add(const std::vector<ReportFrame>& frames);
  // Adds what another table holds under `key`.
  void Copy(const StackTable& other, const StackKey& key);
  // False if there is no such stack.
  bool Find(const StackKey& key, std::vector<ReportFrame>* frames) const;
  bool Has(const StackKey& key) const { return stacks_.count(key) != 0; }
  size_t size() const { return stacks_.size(); }

  // Appends the fields of the summary's message, in an order that depends on nothing but what is in the table.
  void AppendTo(std::string* message) const;
  // Adds one of these fields. All frames come before the first stack. Throws protozero::exception, and
  // std::runtime_error for what makes no sense.
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
  std::vector<uint32_t> read_;                                 // frames in the order of the file that is read
};

// The stacks of one record, which refers to them by number. Thread-compatible.
class RecordStacks {
 public:
  // To write: stacks are added to `table`, which must outlive it.
  explicit RecordStacks(StackTable* table) : table_(table), to_(table) {}
  // To read. The table must outlive it.
  RecordStacks(const StackTable& table, std::vector<StackKey> keys) : table_(&table), keys_(std::move(keys)) {}

  uint64_t Number(const std::vector<ReportFrame>& frames);
  // Throws std::runtime_error if there is none.
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
