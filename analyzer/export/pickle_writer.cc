// SPDX-License-Identifier: Apache-2.0
//
// The opcodes are those of CPython's Lib/pickletools.py.
#include "analyzer/export/pickle_writer.h"

#include <limits>

namespace vramtrack {
namespace {

constexpr size_t kBufferBytes = 1 << 16;
constexpr size_t kMostItemsAtOnce = 1000;

std::string LittleEndian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

}  // namespace

PickleWriter::PickleWriter(ExportSink sink) : sink_(std::move(sink)) { Put("\x80\x02"); }

void PickleWriter::Put(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() < kBufferBytes) return;
  sink_(buffer_);
  buffer_.clear();
}

PickleWriter::List PickleWriter::BeginList() {
  Put("](");
  return {};
}

void PickleWriter::Item(List* list) {
  if (list->items != 0 && list->items % kMostItemsAtOnce == 0) Put("e(");
  ++list->items;
}

uint32_t PickleWriter::Remember() {
  if (memo_ < 256) {
    Put(std::string("q") + static_cast<char>(memo_));
  } else {
    Put("r" + LittleEndian(memo_, 4));
  }
  return memo_++;
}

void PickleWriter::Recall(uint32_t number) {
  if (number < 256) {
    Put(std::string("h") + static_cast<char>(number));
  } else {
    Put("j" + LittleEndian(number, 4));
  }
}

void PickleWriter::String(std::string_view text) {
  const auto found = strings_.find(std::string(text));
  if (found != strings_.end()) return Recall(found->second);
  Put("X" + LittleEndian(text.size(), 4));
  Put(text);
  strings_.emplace(text, Remember());
}

void PickleWriter::Int(int64_t value) {
  if (value >= 0 && value < 256) {
    Put(std::string("K") + static_cast<char>(value));
  } else if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    Put("J" + LittleEndian(static_cast<uint64_t>(value), 4));
  } else {
    Put(std::string("\x8a\x08") + LittleEndian(static_cast<uint64_t>(value), 8));
  }
}

void PickleWriter::Bool(bool value) { Put(value ? "\x88" : "\x89"); }

void PickleWriter::IntPair(int64_t first, int64_t second) {
  Int(first);
  Int(second);
  Put("\x86");
}

void PickleWriter::End() {
  Put(".");
  sink_(buffer_);
  buffer_.clear();
}

}  // namespace vramtrack
