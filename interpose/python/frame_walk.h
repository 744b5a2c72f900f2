// SPDX-License-Identifier: Apache-2.0
//
// Reads the chain of a thread's Python frames.
#ifndef INTERPOSE_PYTHON_FRAME_WALK_H_
#define INTERPOSE_PYTHON_FRAME_WALK_H_

#include <cstddef>
#include <cstdint>

#include "interpose/python/interpreter.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {

// A Python frame, as two words of a stack's identity.
struct PythonFrame {
  static constexpr uint64_t kEntry = 1;  // the interpreter was called for this frame

  uint64_t code_and_entry;  // address of the code object, or'ed with kEntry
  // Low bits: offset of the instruction in bytes. High bits: a fingerprint that distinguishes this code object from a
  // later one at the same address.
  uint64_t instruction_and_print;

  static constexpr int kInstructionBits = 24;
  static constexpr uint32_t kLastInstruction = (1u << kInstructionBits) - 2;  // later ones are recorded as this one

  uint64_t code() const { return code_and_entry & ~kEntry; }
  bool entry() const { return (code_and_entry & kEntry) != 0; }
  uint32_t instruction() const { return instruction_and_print & ((1u << kInstructionBits) - 1); }
  uint64_t fingerprint() const { return instruction_and_print >> kInstructionBits; }
};
static_assert(sizeof(PythonFrame) == 16, "two words");

// The Python frames of a thread.
struct PythonFrames {
  size_t count;
  bool truncated;
  bool settled;  // until the next code object dies they depend on nothing but the chain, addresses and instructions
  PythonFrame frames[kMaxFrames];  // innermost first
};

// Fills `frames` with the frames from `innermost`, a frame of the calling thread, outwards. Leaves out frames that have
// not begun to run, and the interpreter's internal ones. Keeps at most `max_frames` (<= kMaxFrames).
void ReadFrames(const Interpreter& interpreter, uint64_t innermost, size_t max_frames, PythonFrames* frames);

// Returns a hash of all that `settled` frames from `innermost` depend on, which is not 0: of others, one in 2^63 has
// the same. It reads no code object, and so fewer cache lines than ReadFrames.
uint64_t HashOfFrames(const FrameOffsets& offsets, uint64_t innermost, size_t max_frames);

// Returns which of the compiled walks fits the offsets, for Interpreter::layout().
size_t KnownLayout(const FrameOffsets& offsets);

// Returns whether the memory at `innermost` looks like frames: every pointer is readable, code objects have the type of
// code objects, and names are text. Tests with a system call whether memory is readable before it reads it, so it is
// safe if the offsets are wrong for this interpreter.
bool FramesArePlausible(const Interpreter& interpreter, uint64_t innermost);

// The following functions read Python's str in memory: PyASCIIObject and PyCompactUnicodeObject of all versions, see
// CPython's unicodeobject.h. The bits of `state` are those of 3.8 to 3.14.

// Returns the bytes of one character. Characters are code points.
constexpr uint32_t TextUnit(uint32_t state) { return state >> 2 & 7; }
// Returns whether the str is compact, with characters of a valid size.
constexpr bool IsCompactText(uint32_t state) {
  return (state >> 5 & 1) != 0 && (TextUnit(state) == 1 || TextUnit(state) == 2 || TextUnit(state) == 4);
}
// Returns the offset of the first character in bytes.
constexpr uint32_t TextDataOffset(const FrameOffsets& offsets, uint32_t state) {
  return (state >> 6 & 1) != 0 ? offsets.text_ascii : offsets.text_compact;
}

// Writes a code point as UTF-8, which takes at most 4 bytes, and returns the end. Surrogates are encoded as if they
// were characters.
char* PutUtf8(uint32_t c, char* to);

// Writes the end of the str at `text` to `to` as UTF-8, in whole characters and at most `capacity` bytes. Returns the
// number of bytes. Surrogates are encoded as if they were characters.
size_t TextAsUtf8(const FrameOffsets& offsets, uint64_t text, char* to, size_t capacity);

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_FRAME_WALK_H_
