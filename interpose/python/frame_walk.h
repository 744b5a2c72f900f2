// SPDX-License-Identifier: Apache-2.0
//
// Reads the chain of a thread's Python frames.
#ifndef INTERPOSE_PYTHON_FRAME_WALK_H_
#define INTERPOSE_PYTHON_FRAME_WALK_H_

#include <cstddef>
#include <cstdint>

#include "interpose/python/frame_offsets.h"
#include "interpose/python/interpreter.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {

// Two words of a stack's identity.
struct PythonFrame {
  static constexpr uint64_t kEntry = 1;  // the interpreter was called anew for this frame

  uint64_t code_and_entry;  // address of the code object, and kEntry
  // Offset in bytes; above, a fingerprint that tells this code object from a later one at the same address.
  uint64_t instruction_and_print;

  static constexpr int kInstructionBits = 24;
  static constexpr uint32_t kLastInstruction = (1u << kInstructionBits) - 2;  // what is behind it counts as this one

  uint64_t code() const { return code_and_entry & ~kEntry; }
  bool entry() const { return (code_and_entry & kEntry) != 0; }
  uint32_t instruction() const { return instruction_and_print & ((1u << kInstructionBits) - 1); }
  uint64_t fingerprint() const { return instruction_and_print >> kInstructionBits; }
};
static_assert(sizeof(PythonFrame) == 16, "two words");

struct PythonFrames {
  size_t count;
  bool truncated;
  PythonFrame frames[kMaxFrames];  // innermost first
};

// From `innermost`, a frame of the calling thread, outwards. Leaves out what has not begun to run, and the
// interpreter's own. Takes at most `max_frames`.
void ReadFrames(const Interpreter& interpreter, uint64_t innermost, size_t max_frames, PythonFrames* frames);

// For Interpreter: which of the walks fits.
size_t KnownLayout(const FrameOffsets& offsets);

// Whether what lies there looks like frames: every pointer can be read, code objects are code objects, names are text.
// Asks the kernel before each read, so it does no harm where the interpreter is not what it says.
bool FramesArePlausible(const Interpreter& interpreter, uint64_t innermost);

// Python's str as it lies in memory: PyASCIIObject and PyCompactUnicodeObject of all versions, see CPython's
// unicodeobject.h. The bits of the state are those of 3.8 to 3.14.

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

#endif  // INTERPOSE_PYTHON_FRAME_WALK_H_
