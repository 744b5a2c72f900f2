// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/display_text.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace vramtrack {
namespace {

constexpr std::string_view kCutMark = "...";

struct CodePoint {
  uint32_t value;
  int bytes;  // 0: not UTF-8
};

// As RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
CodePoint Decode(std::string_view text) {
  auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = at(0);
  if (lead < 0x80) return {lead, 1};
  int bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < static_cast<size_t>(bytes)) return {0, 0};
  uint32_t value = lead & (0xff >> (bytes + 1));
  for (int i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {0, 0};
    value = value << 6 | (at(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[bytes] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {0, 0};
  return {value, bytes};
}

bool IsHidden(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

int WidthOf(uint32_t c) {
  if ((c >= 0x300 && c < 0x370) || (c >= 0xfe00 && c < 0xfe10)) return 0;  // combining marks, variation selectors
  bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2e80 && c < 0xa4d0) || (c >= 0xac00 && c < 0xd7a4) ||
              (c >= 0xf900 && c < 0xfb00) || (c >= 0xfe30 && c < 0xfe70) || (c >= 0xff00 && c < 0xff61) ||
              (c >= 0x1f300 && c < 0x1f650) || (c >= 0x1f900 && c < 0x1fa00) || (c >= 0x20000 && c < 0x3fffe);
  return wide ? 2 : 1;
}

// Bytes and columns of the first character, or colour sequence, of `text`.
std::pair<size_t, int> Step(std::string_view text) {
  if (text[0] == '\x1b') {
    size_t end = text.find('m');
    return {end == std::string_view::npos ? text.size() : end + 1, 0};
  }
  CodePoint c = Decode(text);
  if (c.bytes == 0) return {1, 1};
  return {c.bytes, WidthOf(c.value)};
}

}  // namespace

std::string Printable(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  const std::string_view whole = bytes;
  while (!bytes.empty()) {
    CodePoint c = Decode(bytes);
    // The log of a CI job takes what follows for a command: "::" at the beginning of a line, "##[" anywhere.
    const bool command = bytes.substr(0, 3) == "##[" || (bytes.size() == whole.size() && bytes.substr(0, 2) == "::");
    if (command || c.bytes == 0 || (c.bytes == 1 && IsHidden(c.value))) {
      text += absl::StrFormat("\\x%02x", static_cast<uint8_t>(bytes[0]));
      bytes.remove_prefix(1);
      continue;
    }
    if (IsHidden(c.value)) {
      text += absl::StrFormat("\\u{%04x}", c.value);
    } else {
      text += bytes.substr(0, c.bytes);
    }
    bytes.remove_prefix(c.bytes);
  }
  return text;
}

size_t CharacterBytes(std::string_view text) { return static_cast<size_t>(Decode(text).bytes); }

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    auto [bytes, columns] = Step(text);
    width += columns;
    text.remove_prefix(bytes);
  }
  return width;
}

std::string CutEnd(std::string_view text, int columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  int left = columns - static_cast<int>(kCutMark.size());
  size_t kept = 0;
  while (kept < text.size()) {
    auto [bytes, width] = Step(text.substr(kept));
    if ((left -= width) < 0) break;
    kept += bytes;
  }
  return std::string(text.substr(0, kept)).append(kCutMark);
}

std::string CutBeginning(std::string_view text, int columns) {
  int over = DisplayWidth(text) - columns;
  if (over <= 0) return std::string(text);
  over += static_cast<int>(kCutMark.size());
  while (over > 0 && !text.empty()) {
    auto [bytes, width] = Step(text);
    over -= width;
    text.remove_prefix(bytes);
  }
  return std::string(kCutMark).append(text);
}

std::string PadRight(std::string_view text, int columns) {
  std::string padded(text);
  int missing = columns - DisplayWidth(text);
  if (missing > 0) padded.append(missing, ' ');
  return padded;
}

std::string PadLeft(std::string_view text, int columns) {
  int missing = columns - DisplayWidth(text);
  return std::string(missing > 0 ? missing : 0, ' ').append(text);
}

namespace {

// Whether `text` begins with a unit, which stays on the line of its number.
bool BeginsWithUnit(std::string_view text) {
  for (const std::string_view unit : {"%", "B", "KiB", "MiB", "GiB", "TiB"}) {
    if (text.substr(0, unit.size()) != unit) continue;
    if (text.size() == unit.size() || std::string_view(" ,;:.)").find(text[unit.size()]) != std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> Wrap(std::string_view text, int columns) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    size_t end = text.find(' ');
    if (end != std::string_view::npos && end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9' &&
        BeginsWithUnit(text.substr(end + 1))) {
      end = text.find(' ', end + 1);
    }
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > columns) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

namespace {

// Of the basic set only: they follow the user's own palette, on a dark background and on a light one.
std::string_view Sequence(Paint paint) {
  switch (paint) {
    case Paint::kBold:
      return "\x1b[1m";
    case Paint::kDim:
      return "\x1b[2m";
    case Paint::kAlarm:
      return "\x1b[1;31m";
    case Paint::kGood:
      return "\x1b[1;32m";
    case Paint::kWarning:
      return "\x1b[33m";
    case Paint::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::string Painted(const TextStyle& style, Paint paint, std::string_view text) {
  if (!style.color || paint == Paint::kPlain || text.empty()) return std::string(text);
  std::string painted(Sequence(paint));
  painted += text;
  painted += "\x1b[0m";
  return painted;
}

}  // namespace vramtrack
