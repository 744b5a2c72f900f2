// SPDX-License-Identifier: Apache-2.0
//
// Finds the Python interpreter of this process and the innermost Python frame of a thread.
#ifndef INTERPOSE_PYTHON_INTERPRETER_H_
#define INTERPOSE_PYTHON_INTERPRETER_H_

#include <cstdint>

#include "interpose/base/system_call.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/stacks/native_stack.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// The offsets of fields in an interpreter's frames and code objects. They are from the headers of each version;
// since 3.13 the interpreter itself publishes them for debuggers (CPython's pycore_debug_offsets.h).

// How the frames of a thread are linked, and how calls of the interpreter are recognized.
enum class FrameChain : uint8_t {
  kObjects,  // up to 3.10: frame objects, with one call of the interpreter for each
  kMarked,   // 3.11: a flag in the frame says whether the interpreter was called for it
  kShims,    // since 3.12: such a frame is followed by a shim frame on the C stack
};

// The offsets of one version, in bytes. The offset of a field that the version does not have is 0.
struct FrameOffsets {
  FrameChain chain;
  bool by_cframe;           // the thread state points to a _PyCFrame, which points to the frame
  uint16_t thread_frame;    // PyThreadState.frame, .cframe or .current_frame
  uint16_t cframe_frame;    // _PyCFrame.current_frame
  uint16_t frame_code;      // f_code or f_executable
  uint16_t frame_previous;  // f_back or previous
  uint16_t frame_position;  // f_lasti, prev_instr or instr_ptr
  uint16_t frame_is_entry;
  uint16_t frame_owner;
  uint16_t code_first_line, code_file, code_name, code_qualified_name, code_line_table;
  uint16_t code_first_traceable;
  uint16_t code_instructions;         // the instructions; for kObjects a bytes object that holds them
  uint16_t lasti_unit;                // bytes per unit of f_lasti
  uint16_t text_ascii, text_compact;  // characters of a str: ASCII, and other compact ones
  uint32_t minor;                     // the version is 3.minor
  schema::LineTable lines;
};

// Offsets that are the same in every version: of PyObject, PyVarObject, PyASCIIObject and PyBytesObject.
constexpr uint16_t kObjectType = 8, kVarSize = 16, kTextLength = 16, kTextHash = 24, kTextState = 32, kBytesData = 32;

// The lowest bits of the reference to a code object in a frame of 3.14: tags.
constexpr uint64_t kCodeTags = 3;

// Values of the field at frame_owner. Since 3.12 a frame with a greater value than kOwnedByFrameObject is a shim.
constexpr uint8_t kOwnedByGenerator = 1, kOwnedByFrameObject = 2;

namespace offsets {

constexpr FrameOffsets FrameObjects(uint32_t minor, uint16_t lasti, uint16_t lasti_unit, schema::LineTable lines) {
  FrameOffsets o = {};
  o.minor = minor;
  o.chain = FrameChain::kObjects;
  o.lines = lines;
  o.thread_frame = 24;
  o.frame_code = 32;
  o.frame_previous = 24;
  o.frame_position = lasti;
  o.lasti_unit = lasti_unit;
  o.code_first_line = 40;
  o.code_instructions = 48;
  o.code_file = 104;
  o.code_name = o.code_qualified_name = 112;
  o.code_line_table = 120;
  o.text_ascii = 48;
  o.text_compact = 72;
  return o;
}

constexpr FrameOffsets Common311(uint32_t minor, FrameChain chain, uint16_t thread_frame, uint16_t first_traceable) {
  FrameOffsets o = {};
  o.minor = minor;
  o.chain = chain;
  o.lines = schema::LINES_LOCATIONS;
  o.by_cframe = minor <= 12;
  o.thread_frame = thread_frame;
  o.frame_position = 56;
  o.code_first_line = 68;
  o.code_file = 112;
  o.code_name = 120;
  o.code_qualified_name = 128;
  o.code_line_table = 136;
  o.code_first_traceable = first_traceable;
  o.code_instructions = static_cast<uint16_t>(first_traceable + 16);
  o.frame_previous = 8;
  o.frame_owner = 70;
  o.text_ascii = 40;
  o.text_compact = 56;
  return o;
}

constexpr FrameOffsets Of311() {
  FrameOffsets o = Common311(11, FrameChain::kMarked, 56, 168);
  o.cframe_frame = 8;
  o.frame_code = 32;
  o.frame_previous = 48;
  o.frame_is_entry = 68;
  o.frame_owner = 69;
  o.code_first_line = 72;
  o.text_ascii = 48;
  o.text_compact = 72;
  return o;
}

}  // namespace offsets

// The offsets of all known versions. They are in a header so that a walk can be compiled for each.
constexpr FrameOffsets kKnownOffsets[] = {
    offsets::FrameObjects(8, 104, 1, schema::LINES_LNOTAB),    offsets::FrameObjects(9, 104, 1, schema::LINES_LNOTAB),
    offsets::FrameObjects(10, 96, 2, schema::LINES_LINETABLE), offsets::Of311(),
    offsets::Common311(12, FrameChain::kShims, 56, 176),       offsets::Common311(13, FrameChain::kShims, 72, 184),
    offsets::Common311(14, FrameChain::kShims, 72, 184),
};

// Returns the offsets of version 3.`minor`, or null for an unknown version.
const FrameOffsets* OffsetsOfVersion(uint32_t minor);

// Fills `offsets` with what the interpreter publishes. `debug_offsets` is the address of _PyRuntime; kDebugOffsetsBytes
// must be readable there. Returns false for an unknown version, for implausible offsets, and for a
// free-threaded build, whose objects have a different layout. `offsets` may be changed even then.
constexpr uint32_t kDebugOffsetsBytes = 400;
bool OffsetsFromInterpreter(const void* debug_offsets, FrameOffsets* offsets);
// Returns whether it is a free-threaded build, which runs Python in several threads at once. `debug_offsets` likewise.
bool IsFreeThreaded(const void* debug_offsets);

// A Python interpreter. Immutable once found, and therefore thread-safe. Valid as long as its library is loaded.
class Interpreter {
 public:
  enum class Found { kNone, kUsable, kUnknown };

  // Finds out whether `object` is CPython: the program itself, or libpython, however it was loaded. Returns kUnknown if
  // it is CPython but its version or build is not known; then only described() is valid. `program` is the first loaded
  // object. It holds the library's variables if it was linked with copies of them.
  Found LookIn(const LoadedObject& object, const LoadedObject& program);
  // Returns whether this is the interpreter in `object`.
  bool IsIn(const LoadedObject& object) const {
    return base_ == object.base() && object.Contains(reinterpret_cast<const void*>(thread_state_));
  }

  // Returns the innermost frame of the calling thread. Returns 0 if the thread has none or has never been in Python,
  // and while the interpreter is finalizing, because frames of other threads are freed then. Takes no lock. `trusted`
  // means that the offsets are known to be right; otherwise a system call tests each address before it is read.
  uint64_t InnermostFrame(bool trusted) const {
    if (__builtin_expect(is_finalizing_() != 0, 0)) return 0;
    const auto thread = reinterpret_cast<uint64_t>(thread_state_());
    if (thread == 0 || (!trusted && !IsReadable(thread + offsets_.thread_frame))) return 0;
    const uint64_t first = *reinterpret_cast<const uint64_t*>(thread + offsets_.thread_frame);
    if (!offsets_.by_cframe || first == 0) return first;
    if (!trusted && !IsReadable(first + offsets_.cframe_frame)) return 0;
    return *reinterpret_cast<const uint64_t*>(first + offsets_.cframe_frame);
  }

  // Returns whether the interpreter has begun to end: its objects may be gone.
  bool IsFinalizing() const { return is_finalizing_() != 0; }
  // Returns an address in the interpreter's code.
  const void* address() const { return reinterpret_cast<const void*>(thread_state_); }
  const FrameOffsets& offsets() const { return offsets_; }
  size_t layout() const { return layout_; }  // see frame_walk.h
  // The addresses of the types code, str and bytes.
  uint64_t code_type() const { return reinterpret_cast<uint64_t>(code_type_); }
  uint64_t text_type() const { return reinterpret_cast<uint64_t>(text_type_); }
  uint64_t bytes_type() const { return reinterpret_cast<uint64_t>(bytes_type_); }
  // The code of the function that runs Python code.
  const CodeRange& evaluation() const { return evaluation_; }
  // A name for reports. Owned by this object.
  const char* described() const { return described_; }

 private:
  uint32_t VersionOf(const LoadedObject& object, const void* runtime) const;
  bool ReadOffsets(const LoadedObject& object, uint32_t version, const void* runtime);

  void* (*thread_state_)();
  int (*is_finalizing_)();
  CodeRange evaluation_;
  FrameOffsets offsets_;
  size_t layout_;
  const void* code_type_;
  const void* text_type_;
  const void* bytes_type_;
  uint64_t base_;
  char described_[128];
};

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_INTERPRETER_H_
