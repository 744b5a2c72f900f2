// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/system_call.h"
#include "interpose/python/frame_walk.h"

namespace vramtrack {
namespace {

constexpr size_t kCheckedFrames = 64;
constexpr uint64_t kMaxTextBytes = 1 << 20, kMaxTableBytes = 64 << 20;

// Reads that do no harm. Once one has failed, all give 0.
class Reader {
 public:
  template <typename Value = uint64_t>
  Value Load(uint64_t address) {
    const uint64_t last = address + sizeof(Value) - 1;
    // The kernel reads eight bytes; a smaller value may lie at the end of what can be read.
    good_ = good_ && address >= 4096 && last >= address && IsReadable(address & ~uint64_t{7}) &&
            IsReadable(last & ~uint64_t{7});
    return good_ ? *reinterpret_cast<const Value*>(address) : Value{};
  }
  bool Require(bool condition) { return good_ = good_ && condition; }
  bool good() const { return good_; }

 private:
  bool good_ = true;
};

bool IsText(const Interpreter& python, uint64_t text, Reader* read) {
  if (!read->Require(text % 8 == 0 && read->Load(text + kObjectType) == python.text_type())) return false;
  const auto state = read->Load<uint32_t>(text + kTextState);
  const uint64_t length = read->Load(text + kTextLength);
  if (!read->Require(IsCompactText(state) && length < kMaxTextBytes)) return false;
  const uint64_t data = text + TextDataOffset(python.offsets(), state);
  for (uint64_t at = 0; at <= length * TextUnit(state); at += 4096) read->Load<uint8_t>(data + at);
  read->Load<uint8_t>(data + length * TextUnit(state));
  return read->good();
}

bool IsCode(const Interpreter& python, uint64_t code, Reader* read) {
  const FrameOffsets& o = python.offsets();
  if (!read->Require(code % 8 == 0 && read->Load(code + kObjectType) == python.code_type())) return false;
  const auto line = read->Load<int32_t>(code + o.code_first_line);
  const uint64_t table = read->Load(code + o.code_line_table);
  return IsText(python, read->Load(code + o.code_name), read) && IsText(python, read->Load(code + o.code_file), read) &&
         IsText(python, read->Load(code + o.code_qualified_name), read) &&
         read->Require(line >= 0 && line < 1 << 24 && table % 8 == 0 &&
                       read->Load(table + kObjectType) == python.bytes_type() &&
                       read->Load(table + kVarSize) < kMaxTableBytes);
}

// Whether the frame stands at an instruction of its code.
bool IsAtInstruction(const FrameOffsets& o, uint64_t frame, uint64_t code, uint8_t owner, Reader* read) {
  if (o.chain == FrameChain::kObjects) {
    // Every frame is at a call, which is nobody's first instruction: where another version has this field there is
    // mostly a 0.
    const auto lasti = read->Load<int32_t>(frame + o.frame_position);
    const uint64_t bytes = read->Load(read->Load(code + o.code_instructions) + kVarSize);
    const uint64_t at = static_cast<uint64_t>(lasti) * o.lasti_unit;
    return read->Require(lasti > 0 && at % 2 == 0 && at < bytes);
  }
  const uint64_t bytes = 2 * read->Load(code + kVarSize);
  const auto offset = static_cast<int64_t>(read->Load(frame + o.frame_position) - (code + o.code_instructions));
  const auto first = read->Load<int32_t>(code + o.code_first_traceable);
  return read->Require(owner <= kOwnedByFrameObject && first >= 0 && static_cast<uint64_t>(first) < bytes &&
                       bytes < kMaxTableBytes && offset % 2 == 0 && offset >= -2 &&
                       offset <= static_cast<int64_t>(bytes));
}

}  // namespace

bool FramesArePlausible(const Interpreter& python, uint64_t innermost) {
  const FrameOffsets& o = python.offsets();
  Reader read;
  size_t seen = 0, links = 0;
  for (uint64_t frame = innermost; frame != 0 && links < kCheckedFrames; ++links) {
    const uint64_t previous = read.Load(frame + o.frame_previous);
    uint64_t code = read.Load(frame + o.frame_code);
    const uint8_t owner = o.frame_owner == 0 ? 0 : read.Load<uint8_t>(frame + o.frame_owner);
    if (!read.Require(frame % 8 == 0)) return false;
    if (o.chain == FrameChain::kObjects && !read.Require(read.Load(frame + kObjectType) % 8 == 0)) return false;
    if (o.chain == FrameChain::kMarked && !read.Require(read.Load<uint8_t>(frame + o.frame_is_entry) <= 1))
      return false;
    const bool shim = o.chain == FrameChain::kShims && owner > kOwnedByFrameObject;
    if (!shim) {
      if (o.chain == FrameChain::kShims) code &= ~uint64_t{3};
      if (!IsCode(python, code, &read) || !IsAtInstruction(o, frame, code, owner, &read)) return false;
      ++seen;
    } else if (!read.Require(owner <= kOwnedByFrameObject + 2)) {
      return false;
    }
    frame = previous;
  }
  return read.good() && seen != 0;
}

}  // namespace vramtrack
