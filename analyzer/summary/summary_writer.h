// SPDX-License-Identifier: Apache-2.0
//
// Encodes plain data as protobuf messages. The contents of a struct are listed once, in its function Fields
// (model/fields.h), which writes with a SummaryWriter, reads with a SummaryReader and generates the schema with a
// SummarySchema.
//
// As in proto3, zero and empty values are not written; an optional is written if it has a value. Integers are varints,
// signed ones zigzag. Lists of integers are packed and hold the differences between neighbours. A stack is the number
// of its key in the record. A reference to a site is its index in decimal digits.
#ifndef ANALYZER_SUMMARY_SUMMARY_WRITER_H_
#define ANALYZER_SUMMARY_SUMMARY_WRITER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"
#include "analyzer/summary/stack_table.h"
#include "proto/pbf_reader.h"

namespace vramtrack {

// Writes one struct as a protobuf message. Thread-compatible.
class SummaryWriter : public PlainFields<SummaryWriter> {
 public:
  // Appends to `to` and adds stacks to `stacks`. Both must outlive this object.
  SummaryWriter(std::string* to, RecordStacks* stacks) : to_(*to), writer_(*to), stacks_(stacks) {}

  template <class T>
  void Plain(uint32_t field, const char*, const T& value) {
    Put(field, value, false);
  }

  template <class T>
  static std::string Encode(const T& value, RecordStacks* stacks) {
    std::string bytes;
    SummaryWriter writer(&bytes, stacks);
    writer.PutFields(value);
    writer.Sort();
    return bytes;
  }

 private:
  // Parts of the message, to write fields in ascending order of their numbers: older readers depend on it.
  struct Part {
    uint32_t field;
    size_t begin;
  };
  void Begin(uint32_t field) {
    is_sorted_ &= parts_.empty() || parts_.back().field <= field;
    parts_.push_back({field, to_.size()});
  }
  void Sort() {
    if (is_sorted_) return;
    std::vector<std::pair<uint32_t, std::string>> pieces;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const size_t end = i + 1 < parts_.size() ? parts_[i + 1].begin : to_.size();
      pieces.emplace_back(parts_[i].field, to_.substr(parts_[i].begin, end - parts_[i].begin));
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    to_.clear();
    for (const auto& [field, bytes] : pieces) to_ += bytes;
  }

  template <class T>
  void PutFields(const T& value) {
    Fields(*this, const_cast<T&>(value));  // the visitor does not change it
  }
  template <class A, class B>
  void PutFields(const std::pair<A, B>& value) {
    Put(1, value.first, false);
    Put(2, value.second, false);
  }

  // With `always`, writes zero and empty values, too.
  template <class T>
  void Put(uint32_t field, const T& value, bool always) {
    if constexpr (kHasNames<T>) {
      Put(field, std::string(NameOf(value)), always);
      return;
    }
    Begin(field);
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
    } else if constexpr (std::is_same_v<T, ReportSiteIndex>) {
      if (!value.is_none()) writer_.add_string(field, std::to_string(value.value()));
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
    Begin(field);
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

  std::string& to_;
  protozero::pbf_writer writer_;
  RecordStacks* const stacks_;
  std::vector<Part> parts_;  // where each field begins
  bool is_sorted_ = true;
};

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_WRITER_H_
