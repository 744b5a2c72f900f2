// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbols/python_lines.h"

#include <algorithm>

namespace vramtrack {
namespace {

constexpr int kInstructionBytes = 2;  // offsets in co_linetable count these from 3.11 on
constexpr int64_t kNoSuchLine = int64_t{1} << 40;

uint8_t Byte(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }
int8_t SignedByte(std::string_view bytes, size_t at) { return static_cast<int8_t>(bytes[at]); }

// Objects/locations.md in CPython: six bits a byte, lowest first, bit 6 says that more follow; the lowest bit of all is
// the sign. Stops at the next entry, whose first byte alone has bit 7.
int64_t SignedVarint(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  for (int shift = 0; at < bytes.size() && shift < 36 && (Byte(bytes, at) & 0x80) == 0; shift += 6, ++at) {
    value |= static_cast<uint64_t>(Byte(bytes, at) & 0x3f) << shift;
    if ((Byte(bytes, at) & 0x40) == 0) break;
  }
  const auto magnitude = static_cast<int64_t>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

}  // namespace

PythonLines::PythonLines(schema::LineTable format, std::string_view bytes, uint32_t first_line) {
  switch (format) {
    case schema::LINES_LNOTAB:
      ReadLnotab(bytes, first_line);
      break;
    case schema::LINES_LINETABLE:
      ReadLinetable(bytes, first_line);
      break;
    case schema::LINES_LOCATIONS:
      ReadLocations(bytes, first_line);
      break;
    default:
      Add(0, first_line);  // better than none
  }
  ranges_.shrink_to_fit();
}

uint32_t PythonLines::LineAt(uint32_t offset) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), offset,
                                      [](uint32_t value, const Range& range) { return value < range.start; });
  return after == ranges_.begin() ? 0 : (after - 1)->line;
}

void PythonLines::Add(uint64_t start, int64_t line) {
  if (start > UINT32_MAX) return;
  const auto shown = line > 0 && line <= INT32_MAX ? static_cast<uint32_t>(line) : 0;
  if (!ranges_.empty() && ranges_.back().start == start) ranges_.pop_back();  // that one was empty
  if (!ranges_.empty() && ranges_.back().line == shown) return;
  ranges_.push_back({static_cast<uint32_t>(start), shown});
}

// Objects/lnotab_notes.txt: pairs of (bytes of code, signed difference of the line), the difference counts from there.
void PythonLines::ReadLnotab(std::string_view bytes, int64_t line) {
  uint64_t offset = 0;
  Add(offset, line);
  for (size_t at = 0; at + 1 < bytes.size(); at += 2) {
    offset += Byte(bytes, at);
    line += SignedByte(bytes, at + 1);
    Add(offset, line);
  }
}

// The same file in 3.10: pairs of (bytes of code, signed difference of the line), the difference counts for those
// bytes.
void PythonLines::ReadLinetable(std::string_view bytes, int64_t line) {
  constexpr int8_t kNoLine = -128;
  uint64_t offset = 0;
  for (size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const int8_t difference = SignedByte(bytes, at + 1);
    if (difference != kNoLine) line += difference;
    if (Byte(bytes, at) != 0) Add(offset, difference == kNoLine ? 0 : line);
    offset += Byte(bytes, at);
  }
  Add(offset, 0);
}

// Objects/locations.md: entries of one byte (1, four bits of form, three of length) and what the form asks for.
void PythonLines::ReadLocations(std::string_view bytes, int64_t line) {
  enum Form { kOneLine0 = 10, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kNone = 15 };
  uint64_t offset = 0;
  for (size_t at = 0; at < bytes.size();) {
    const uint8_t first = Byte(bytes, at);
    const int form = (first >> 3) & 15;
    if (form >= kOneLine0 && form <= kOneLine2) line += form - kOneLine0;
    if (form == kNoColumns || form == kLong) line += SignedVarint(bytes, at + 1);
    line = std::max(-kNoSuchLine, std::min(line, kNoSuchLine));
    Add(offset, form == kNone ? 0 : line);
    offset += static_cast<uint64_t>((first & 7) + 1) * kInstructionBytes;
    do ++at;
    while (at < bytes.size() && (Byte(bytes, at) & 0x80) == 0);
  }
  Add(offset, 0);
}

}  // namespace vramtrack
