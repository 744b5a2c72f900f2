// SPDX-License-Identifier: Apache-2.0
//
// Python's str as it lies in memory: PyASCIIObject and PyCompactUnicodeObject of all versions, see CPython's
// unicodeobject.h. The bits of the state are those of 3.8 to 3.14.
#ifndef INTERPOSE_PYTHON_TEXT_H_
#define INTERPOSE_PYTHON_TEXT_H_

#include <cstddef>
#include <cstdint>

#include "interpose/python/frame_offsets.h"

namespace vramtrack {

// Bytes of one character; the characters are code points.
constexpr uint32_t TextUnit(uint32_t state) { return state >> 2 & 7; }
constexpr bool IsCompactText(uint32_t state) {
  return (state >> 5 & 1) != 0 && (TextUnit(state) == 1 || TextUnit(state) == 2 || TextUnit(state) == 4);
}
// Where the characters begin.
constexpr uint32_t TextDataOffset(const FrameOffsets& offsets, uint32_t state) {
  return (state >> 6 & 1) != 0 ? offsets.text_ascii : offsets.text_compact;
}

// The end of the str at `text` as UTF-8, at most `capacity` bytes, whole characters only; returns how many. Surrogates
// are written as if they were characters.
size_t TextAsUtf8(const FrameOffsets& offsets, uint64_t text, char* to, size_t capacity);

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_TEXT_H_
