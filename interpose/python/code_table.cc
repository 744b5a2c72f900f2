// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/code_table.h"

#include "interpose/python/code_deaths.h"
#include "interpose/python/text.h"
#include "proto/message_writer.h"

namespace vramtrack {
namespace {

namespace f = schema::code_field;

// Of longer names the end is kept, which says more.
constexpr size_t kMaxNameBytes = 400, kMaxFileBytes = 1000;
constexpr size_t kLinesInMessage = 1024;
constexpr size_t kMessageBytes = kMaxNameBytes + kMaxFileBytes + kLinesInMessage + 64;

template <typename Value = uint64_t>
Value Load(uint64_t address) {
  return *reinterpret_cast<const Value*>(address);
}

uint64_t KeyOf(const PythonFrame& frame) {
  const uint64_t key = (frame.code() * 0x9e3779b97f4a7c15) ^ frame.fingerprint() * 0xd6e8feb86659fd93;
  return key | (key == 0);
}

}  // namespace

uint32_t CodeTable::NumberOf(const PythonFrame& frame, const FrameOffsets& offsets, Lane* lane) {
  const uint64_t key = KeyOf(frame);
  if (const uint64_t known = ids_.Find(key)) return static_cast<uint32_t>(known);
  CodeDeaths::Met(frame.code());
  const uint32_t id = next_id_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!Define(id, frame.code(), offsets, lane)) return 0;
  ids_.Insert(key, id);
  return id;
}

__attribute__((noinline)) bool CodeTable::Define(uint32_t id, uint64_t code, const FrameOffsets& o, Lane* lane) {
  uint8_t buffer[kMessageBytes];
  char text[kMaxFileBytes > kMaxNameBytes ? kMaxFileBytes : kMaxNameBytes];
  const uint64_t table = Load(code + o.code_line_table);
  const auto* lines = reinterpret_cast<const uint8_t*>(table) + kBytesData;
  uint64_t left = Load(table + kVarSize);
  for (bool first = true; first || left > 0; first = false) {
    MessageWriter out(buffer, sizeof buffer);
    uint8_t* message = out.Begin(schema::definitions_field::codes);
    out.Varint(f::id, id);
    if (first) {
      out.Bytes(f::name, text, TextAsUtf8(o, Load(code + o.code_qualified_name), text, kMaxNameBytes));
      out.Bytes(f::file, text, TextAsUtf8(o, Load(code + o.code_file), text, kMaxFileBytes));
      out.Varint(f::first_line, Load<uint32_t>(code + o.code_first_line));
      out.Varint(f::table, o.lines);
    }
    const uint64_t piece = left < kLinesInMessage ? left : kLinesInMessage;
    out.Bytes(f::lines, lines, piece);
    out.End(message);
    if (!lane->DefineEncoded(buffer, out.size())) return false;
    lines += piece;
    left -= piece;
  }
  return true;
}

}  // namespace vramtrack
