// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/text.h"

#include <cstring>

namespace vramtrack {
namespace {

size_t Utf8Bytes(uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

char* PutUtf8(uint32_t c, char* to) {
  const size_t bytes = Utf8Bytes(c);
  constexpr uint8_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = bytes - 1; i > 0; --i) {
    to[i] = static_cast<char>(0x80 | (c & 0x3f));
    c >>= 6;
  }
  to[0] = static_cast<char>(kLead[bytes] | c);
  return to + bytes;
}

}  // namespace

size_t TextAsUtf8(const FrameOffsets& offsets, uint64_t text, char* to, size_t capacity) {
  uint64_t length;
  uint32_t state;
  std::memcpy(&length, reinterpret_cast<const char*>(text) + kTextLength, sizeof length);
  std::memcpy(&state, reinterpret_cast<const char*>(text) + kTextState, sizeof state);
  if (!IsCompactText(state)) return 0;
  const uint32_t unit = TextUnit(state);
  const char* data = reinterpret_cast<const char*>(text) + TextDataOffset(offsets, state);
  const auto at = [&](uint64_t i) {
    uint32_t c = 0;
    std::memcpy(&c, data + i * unit, unit);
    return c;
  };
  uint64_t first = length;
  size_t bytes = 0;
  while (first > 0 && bytes + Utf8Bytes(at(first - 1)) <= capacity) bytes += Utf8Bytes(at(--first));
  char* end = to;
  for (uint64_t i = first; i < length; ++i) end = PutUtf8(at(i), end);
  return bytes;
}

}  // namespace vramtrack
