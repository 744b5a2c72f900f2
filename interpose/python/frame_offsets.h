// SPDX-License-Identifier: Apache-2.0
//
// Where the fields of an interpreter's frames and code objects lie: read from the headers of each version, and from the
// interpreter itself from 3.13 on, which says it for debuggers (CPython's pycore_debug_offsets.h).
#ifndef INTERPOSE_PYTHON_FRAME_OFFSETS_H_
#define INTERPOSE_PYTHON_FRAME_OFFSETS_H_

#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

// How frames are linked.
enum class FrameChain : uint8_t {
  kObjects,  // to 3.10: frame objects, one call of the interpreter each
  kMarked,   // 3.11: a frame says whether the interpreter was called for it
  kShims,    // from 3.12 on: behind such a frame a shim follows that lies on the C stack
};

// All in bytes. Of what an interpreter does not have the offset is 0.
struct FrameOffsets {
  uint32_t minor;  // of 3.minor
  FrameChain chain;
  schema::LineTable lines;
  bool by_cframe;           // what a thread state has is a _PyCFrame, which has the frame
  uint16_t thread_frame;    // PyThreadState.frame, .cframe or .current_frame
  uint16_t cframe_frame;    // _PyCFrame.current_frame
  uint16_t frame_code;      // f_code or f_executable
  uint16_t frame_previous;  // f_back or previous
  uint16_t frame_position;  // f_lasti, prev_instr or instr_ptr
  uint16_t frame_is_entry;
  uint16_t frame_owner;
  uint16_t code_first_line, code_file, code_name, code_qualified_name, code_line_table;
  uint16_t code_first_traceable;
  uint16_t code_instructions;         // the instructions themselves; of frame objects: a bytes object that has them
  uint16_t lasti_unit;                // bytes that f_lasti counts
  uint16_t text_ascii, text_compact;  // a str's characters
};

// Of every version: PyObject, PyVarObject, PyASCIIObject, PyBytesObject.
constexpr uint16_t kObjectType = 8, kVarSize = 16, kTextLength = 16, kTextHash = 24, kTextState = 32, kBytesData = 32;

// Values of frame_owner. From 3.12 on a frame of a greater owner than a frame object is a shim.
constexpr uint8_t kOwnedByGenerator = 1, kOwnedByFrameObject = 2;

// Null for a version whose frames are not known.
const FrameOffsets* OffsetsOfVersion(uint32_t minor);

// Fills in what the interpreter says; `debug_offsets`: where _PyRuntime begins, readable for kDebugOffsetsBytes. False
// for a version whose list is not known, and for a build without the lock, whose objects are laid out differently.
constexpr uint32_t kDebugOffsetsBytes = 400;
bool OffsetsFromInterpreter(const void* debug_offsets, FrameOffsets* offsets);

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_FRAME_OFFSETS_H_
