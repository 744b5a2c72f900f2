// SPDX-License-Identifier: Apache-2.0
//
// Plain data as protobuf messages. What is in a struct is listed once, in a function
//     template <class Archive> void Fields(Archive& archive, T& t) { archive(1, "name", t.name); … }
// with ascending numbers, which writes with a SummaryWriter, reads with a SummaryReader and gives the schema with a
// SummarySchema. Numbers are never used again for something else.
//
// As in proto3, what is 0 or empty is not written; what is optional is written if it is there. Integers are varints,
// signed ones zigzag; lists of integers are packed and hold the differences from one to the next; a stack is the number
// of its key in the record.
#ifndef ANALYZER_SUMMARY_SUMMARY_WRITER_H_
#define ANALYZER_SUMMARY_SUMMARY_WRITER_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"
#include "analyzer/summary/pbf_writer.h"
#include "analyzer/summary/stack_table.h"

namespace vramtrack {

// Thread-compatible.
class SummaryWriter {
 public:
  // Appends to `to`; stacks go to `stacks`. Both must outlive it.
  SummaryWriter(std::string* to, RecordStacks* stacks) : writer_(*to), stacks_(stacks) {}

  template <class T>
  void operator()(uint32_t field, const char*, const T& value) {
    Put(field, value, false);
  }

  template <class T>
  static std::string Encode(const T& value, RecordStacks* stacks) {
    std::string bytes;
    SummaryWriter writer(&bytes, stacks);
    writer.PutFields(value);
    return bytes;
  }

 private:
  template <class T>
  void PutFields(const T& value) {
    Fields(*this, const_cast<T&>(value));  // which only looks at it
  }
  template <class A, class B>
  void PutFields(const std::pair<A, B>& value) {
    Put(1, value.first, false);
    Put(2, value.second, false);
  }

  // `always`: what is 0 or empty, too.
  template <class T>
  void Put(uint32_t field, const T& value, bool always) {
    if constexpr (std::is_enum_v<T>) {
      Put(field, static_cast<uint32_t>(value), always);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (value || always) writer_.add_bool(field, value);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      if (value != 0 || always) writer_.add_sint64(field, value);
    } else if constexpr (std::is_integral_v<T>) {
      if (value != 0 || always) writer_.add_uint64(field, value);
    } else if constexpr (std::is_same_v<T, double>) {
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      if (bits != 0 || always) writer_.add_double(field, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!value.empty() || always) writer_.add_string(field, value);
    } else if constexpr (std::is_same_v<T, ReportFrame>) {
      writer_.add_uint64(field, stacks_->Number({value}));
    } else {
      const std::string message = Encode(value, stacks_);
      if (!message.empty() || always) writer_.add_message(field, message);
    }
  }
  template <class T>
  void Put(uint32_t field, const std::optional<T>& value, bool) {
    if (value) Put(field, *value, true);
  }
  template <class T>
  void Put(uint32_t field, const std::vector<T>& values, bool) {
    if (values.empty()) return;
    if constexpr (std::is_same_v<T, ReportFrame>) {
      writer_.add_uint64(field, stacks_->Number(values));
    } else if constexpr (std::is_same_v<T, double>) {
      writer_.add_packed_double(field, values.begin(), values.end());
    } else if constexpr (std::is_integral_v<T>) {
      std::vector<int64_t> differences;
      differences.reserve(values.size());
      uint64_t last = 0;
      for (const T value : values) {
        differences.push_back(static_cast<int64_t>(static_cast<uint64_t>(value) - last));
        last = static_cast<uint64_t>(value);
      }
      writer_.add_packed_sint64(field, differences.begin(), differences.end());
    } else {
      for (const T& value : values) Put(field, value, true);
    }
  }
  template <class T>
  void Put(uint32_t field, const std::map<std::string, T>& values, bool) {
    for (const auto& [name, value] : values) Put(field, std::pair<std::string, T>(name, value), true);
  }

  protozero::pbf_writer writer_;
  RecordStacks* const stacks_;
};

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_WRITER_H_
