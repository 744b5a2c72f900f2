// SPDX-License-Identifier: Apache-2.0
//
// Reads what summary_writer.h writes.
#ifndef ANALYZER_SUMMARY_SUMMARY_READER_H_
#define ANALYZER_SUMMARY_SUMMARY_READER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"
#include "analyzer/summary/stack_table.h"
#include "proto/pbf_reader.h"

namespace vramtrack {

// Reads a struct from a protobuf message. Skips unknown fields. Throws protozero::exception if the bytes are not a
// protobuf message, and std::runtime_error for an unknown stack, or for a message that decodes into far more memory
// than its size: two bytes are an empty message, which can become an object of a thousand bytes. Thread-compatible.
class SummaryReader : public PlainFields<SummaryReader> {
 public:
  // The memory that decoded data may still use, as a number of bytes or frames.
  struct Room {
    uint64_t elements, frames;
  };

  // The bytes, `stacks` and `room` must outlive this object.
  SummaryReader(std::string_view bytes, const RecordStacks& stacks, Room* room)
      : bytes_(bytes), reader_(bytes.data(), bytes.size()), stacks_(stacks), room_(room), more_(reader_.next()) {}

  template <class T>
  void Plain(uint32_t field, const char*, T& value) {
    if (field < last_asked_) {  // the fields are listed in the order of the JSON
      reader_ = protozero::pbf_reader(bytes_.data(), bytes_.size());
      more_ = reader_.next();
    }
    last_asked_ = field;
    while (more_ && reader_.tag() < field) {
      reader_.skip();
      more_ = reader_.next();
    }
    while (more_ && reader_.tag() == field) {
      Get(&value);
      more_ = reader_.next();
    }
  }

  template <class T>
  static void Decode(std::string_view bytes, const RecordStacks& stacks, T* value) {
    Room room = {kMostOfSmall + kMostUnfolded * bytes.size(), kMostOfSmall + kMostFrames * bytes.size()};
    SummaryReader reader(bytes, stacks, &room);
    reader.GetFields(value);
  }

 private:
  // A site takes tens of bytes in the message and has about a hundred frames, which are stored elsewhere.
  static constexpr uint64_t kMostUnfolded = 32, kMostFrames = 1024, kMostOfSmall = 8 << 20;

  static void Count(uint64_t bytes, uint64_t* room) {
    if (*room < bytes) throw std::runtime_error("it unfolds into far more than it has bytes");
    *room -= bytes;
  }
  template <class T>
  void GetFields(T* value) {
    Fields(*this, *value);
  }
  template <class A, class B>
  void GetFields(std::pair<A, B>* value) {
    (*this)(1, "first", value->first);
    (*this)(2, "second", value->second);
  }

  template <class T>
  void Get(T* value) {
    if constexpr (kHasNames<T>) {
      const std::string name = reader_.get_string();
      const std::optional<T> known = ValueOf<T>(name);
      if (!known) throw std::runtime_error("it has '" + name + "', which this program does not know");
      *value = *known;
    } else if constexpr (std::is_enum_v<T>) {
      *value = static_cast<T>(reader_.get_uint64());
    } else if constexpr (std::is_same_v<T, bool>) {
      *value = reader_.get_bool();
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      *value = static_cast<T>(reader_.get_sint64());
    } else if constexpr (std::is_integral_v<T>) {
      *value = static_cast<T>(reader_.get_uint64());
    } else if constexpr (std::is_same_v<T, double>) {
      *value = reader_.get_double();
    } else if constexpr (std::is_same_v<T, std::string>) {
      *value = reader_.get_string();
    } else if constexpr (std::is_same_v<T, ReportSiteIndex>) {
      const std::string digits = reader_.get_string();
      uint32_t site;
      if (digits.empty()) return;
      if (!absl::SimpleAtoi(digits, &site)) throw std::runtime_error("it contradicts itself");
      *value = ReportSiteIndex(site);
    } else if constexpr (std::is_same_v<T, ReportFrame>) {
      std::vector<ReportFrame> frames;
      stacks_.Find(reader_.get_uint64(), &frames);
      *value = std::move(frames[0]);
    } else {
      const protozero::data_view message = reader_.get_view();
      SummaryReader reader({message.data(), message.size()}, stacks_, room_);
      reader.GetFields(value);
    }
  }
  template <class T>
  void Get(std::optional<T>* value) {
    value->emplace();
    Get(&**value);
  }
  template <class T>
  void Get(std::vector<T>* values) {
    if constexpr (std::is_same_v<T, ReportFrame>) {
      stacks_.Find(reader_.get_uint64(), values);
      Count(values->size() * sizeof(ReportFrame), &room_->frames);
    } else if constexpr (std::is_same_v<T, double>) {
      for (const double value : reader_.get_packed_double()) values->push_back(value);
    } else if constexpr (std::is_integral_v<T>) {
      uint64_t last = 0;
      for (const int64_t difference : reader_.get_packed_sint64()) {
        Count(sizeof(T), &room_->elements);
        last += static_cast<uint64_t>(difference);
        values->push_back(static_cast<T>(last));
      }
    } else {
      Count(sizeof(T), &room_->elements);
      values->emplace_back();
      Get(&values->back());
    }
  }
  template <class T>
  void Get(std::map<std::string, T>* values) {
    Count(sizeof(std::pair<std::string, T>), &room_->elements);
    std::pair<std::string, T> value;
    Get(&value);
    values->insert(std::move(value));
  }

  const std::string_view bytes_;
  protozero::pbf_reader reader_;
  uint32_t last_asked_ = 0;
  const RecordStacks& stacks_;
  Room* const room_;
  bool more_;
};

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_READER_H_
