// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/frame_offsets.h"

#include <cstddef>
#include <cstring>

namespace vramtrack {
namespace {

// Where _Py_DebugOffsets has what is needed, in units of 8 bytes.
struct DebugOffsets {
  uint32_t minor;
  uint16_t current_frame;
  uint16_t previous, executable, instr_ptr, owner;
  uint16_t filename, name, qualname, linetable, firstlineno, code_adaptive;
};
constexpr uint16_t kVersion = 1, kFreeThreaded = 2;
constexpr DebugOffsets kDebugOffsets[] = {
    {13, 23, 29, 30, 31, 33, 35, 36, 37, 38, 39, 43},
    {14, 26, 32, 33, 34, 36, 40, 41, 42, 43, 44, 48},
};
static_assert(8 * 49 <= kDebugOffsetsBytes, "the last one is read");

}  // namespace

const FrameOffsets* OffsetsOfVersion(uint32_t minor) {
  for (const FrameOffsets& offsets : kKnownOffsets) {
    if (offsets.minor == minor) return &offsets;
  }
  return nullptr;
}

bool IsFreeThreaded(const void* debug_offsets) {
  uint64_t value;
  std::memcpy(&value, static_cast<const char*>(debug_offsets) + 8 * size_t{kFreeThreaded}, sizeof value);
  return value != 0;
}

bool OffsetsFromInterpreter(const void* debug_offsets, FrameOffsets* offsets) {
  const auto at = [debug_offsets](uint16_t index) {
    uint64_t value;
    std::memcpy(&value, static_cast<const char*>(debug_offsets) + 8 * size_t{index}, sizeof value);
    return value;
  };
  if (IsFreeThreaded(debug_offsets) || at(kVersion) >> 24 != 3) return false;
  for (const DebugOffsets& o : kDebugOffsets) {
    if (o.minor != (at(kVersion) >> 16 & 0xff)) continue;
    const FrameOffsets* known = OffsetsOfVersion(o.minor);
    if (known == nullptr) return false;
    *offsets = *known;
    bool good = true;
    const auto get = [&](uint16_t index) {
      good = good && at(index) < 4096;
      return static_cast<uint16_t>(at(index));
    };
    offsets->thread_frame = get(o.current_frame);
    offsets->frame_previous = get(o.previous);
    offsets->frame_code = get(o.executable);
    offsets->frame_position = get(o.instr_ptr);
    offsets->frame_owner = get(o.owner);
    offsets->code_file = get(o.filename);
    offsets->code_name = get(o.name);
    offsets->code_qualified_name = get(o.qualname);
    offsets->code_line_table = get(o.linetable);
    offsets->code_first_line = get(o.firstlineno);
    offsets->code_instructions = get(o.code_adaptive);
    // Not in the list, but always the last but one field before.
    offsets->code_first_traceable = static_cast<uint16_t>(offsets->code_instructions - 16);
    return good;
  }
  return false;
}

}  // namespace vramtrack
