// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/frame_offsets.h"

#include <cstddef>
#include <cstring>

namespace vramtrack {
namespace {

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

constexpr FrameOffsets kKnown[] = {
    FrameObjects(8, 104, 1, schema::LINES_LNOTAB),    FrameObjects(9, 104, 1, schema::LINES_LNOTAB),
    FrameObjects(10, 96, 2, schema::LINES_LINETABLE), Of311(),
    Common311(12, FrameChain::kShims, 56, 176),       Common311(13, FrameChain::kShims, 72, 184),
    Common311(14, FrameChain::kShims, 72, 184),
};

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
  for (const FrameOffsets& offsets : kKnown) {
    if (offsets.minor == minor) return &offsets;
  }
  return nullptr;
}

bool OffsetsFromInterpreter(const void* debug_offsets, FrameOffsets* offsets) {
  const auto at = [debug_offsets](uint16_t index) {
    uint64_t value;
    std::memcpy(&value, static_cast<const char*>(debug_offsets) + 8 * size_t{index}, sizeof value);
    return value;
  };
  if (at(kFreeThreaded) != 0 || at(kVersion) >> 24 != 3) return false;
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
