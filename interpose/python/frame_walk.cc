// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/frame_walk.h"

#include <cstring>
#include <type_traits>

#include "interpose/base/system_call.h"
#include "interpose/python/code_deaths.h"
#include "proto/hash.h"

namespace vramtrack {
namespace {

// How many bytes there are, and the last eight. What a str or bytes object has takes that much at least, zero included
// and rounded up, so they can always be read.
uint64_t TailOf(uint64_t data, uint64_t bytes) {
  return Load(data + (bytes > 8 ? bytes - 8 : 0)) + (bytes << 56) + bytes * kHashMultiplier;
}

uint64_t TextTail(const FrameOffsets& o, uint64_t text) {
  const auto state = Load<uint32_t>(text + kTextState);
  return TailOf(text + TextDataOffset(o, state), Load(text + kTextLength) * TextUnit(state));
}

// What tells a code object from another one at its address: where its parts lie, and what is in them. Of the names,
// which the compiler hashes, of the file and of the lines.
__attribute__((noinline)) uint64_t ContentsOf(const FrameOffsets& o, uint64_t code) {
  const uint64_t lines = Load(code + o.code_line_table), file = Load(code + o.code_file);
  const uint64_t qualified = Load(code + o.code_qualified_name);
  // One after the other: addresses and line numbers differ by few bits, which would cancel each other out.
  uint64_t h = Mix(lines, kHashMultiplier);
  h = Mix(h, Load<uint32_t>(code + o.code_first_line));
  h = Mix(h, qualified);
  h = Mix(h, file);
  h = Mix(h, Load(Load(code + o.code_name) + kTextHash));
  h = Mix(h, TailOf(lines + kBytesData, Load(lines + kVarSize)));
  h = Mix(h, TextTail(o, qualified));
  return Mix(h, TextTail(o, file));
}

__attribute__((always_inline)) inline void Read(const FrameOffsets& o, uint64_t code_type, uint64_t frame,
                                                size_t max_frames, PythonFrames* out) {
  size_t count = 0;
  out->truncated = false;
  out->settled = true;
  for (uint64_t previous; frame != 0; frame = previous) {
    previous = Load(frame + o.frame_previous);
    uint64_t code = Load(frame + o.frame_code);
    uint64_t entry = PythonFrame::kEntry;
    uint32_t instruction;
    if (o.chain == FrameChain::kObjects) {
      const auto lasti = Load<int32_t>(frame + o.frame_position);
      instruction = lasti < 0 ? 0 : static_cast<uint32_t>(lasti) * o.lasti_unit;
    } else {
      const auto owner = Load<uint8_t>(frame + o.frame_owner);
      if (o.chain == FrameChain::kShims) {
        if (owner > kOwnedByFrameObject) {
          if (count != 0) out->frames[count - 1].code_and_entry |= PythonFrame::kEntry;
          continue;
        }
        entry = 0;
        code &= ~kCodeTags;
        if (__builtin_expect(code == 0 || Load(code + kObjectType) != code_type, 0)) {
          out->settled = false;
          continue;
        }
      } else {
        entry = Load<uint8_t>(frame + o.frame_is_entry) != 0;
      }
      // Before its first instruction that can be traced a frame is only half made.
      const uint64_t offset = Load(frame + o.frame_position) - (code + o.code_instructions);
      const int64_t first = 2 * int64_t{Load<int32_t>(code + o.code_first_traceable)};
      if (__builtin_expect(static_cast<int64_t>(offset) < first, 0)) {
        out->settled = false;
        if (owner != kOwnedByGenerator) continue;
      }
      instruction = static_cast<int64_t>(offset) < 0 ? 0 : static_cast<uint32_t>(offset);
    }
    if (__builtin_expect(count == max_frames, 0)) {
      out->truncated = true;
      break;
    }
    if (__builtin_expect(instruction > PythonFrame::kLastInstruction, 0)) instruction = PythonFrame::kLastInstruction;
    uint64_t print = Load(code + o.code_line_table) << PythonFrame::kInstructionBits;
    if (__builtin_expect(CodeDeaths::MayBeAnother(code), 0)) {
      out->settled &= CodeDeaths::seen();
      // The highest bits are the best mixed ones.
      print = ContentsOf(o, code) >> PythonFrame::kInstructionBits << PythonFrame::kInstructionBits;
    }
    out->frames[count++] = {code | entry, print | instruction};
  }
  out->count = count;
}

using Walk = void (*)(const FrameOffsets& offsets, uint64_t code_type, uint64_t innermost, size_t max_frames,
                      PythonFrames* frames);

// With offsets as constants a frame takes half the time.
template <size_t kIndex>
void ReadKnown(const FrameOffsets&, uint64_t code_type, uint64_t frame, size_t max_frames, PythonFrames* out) {
  static constexpr FrameOffsets kOffsets = kKnownOffsets[kIndex];
  Read(kOffsets, code_type, frame, max_frames, out);
}
void ReadOther(const FrameOffsets& offsets, uint64_t code_type, uint64_t frame, size_t max_frames, PythonFrames* out) {
  Read(offsets, code_type, frame, max_frames, out);
}

constexpr size_t kKnownCount = sizeof kKnownOffsets / sizeof *kKnownOffsets;
static_assert(kKnownCount == 7, "one for each");
constexpr Walk kWalks[] = {ReadKnown<0>, ReadKnown<1>, ReadKnown<2>, ReadKnown<3>,
                           ReadKnown<4>, ReadKnown<5>, ReadKnown<6>, ReadOther};

}  // namespace

static_assert(std::has_unique_object_representations_v<FrameOffsets>, "compared byte by byte");

size_t KnownLayout(const FrameOffsets& offsets) {
  size_t i = 0;
  while (i < kKnownCount && std::memcmp(&kKnownOffsets[i], &offsets, sizeof offsets) != 0) ++i;
  return i;
}

void ReadFrames(const Interpreter& interpreter, uint64_t innermost, size_t max_frames, PythonFrames* frames) {
  kWalks[interpreter.layout()](interpreter.offsets(), interpreter.code_type(), innermost, max_frames, frames);
}

namespace {

// Two sums, so that one multiplication does not wait for the other. A change may be the same in both: they are mixed
// one after the other. The code object and the instruction of a shim are constants.
template <FrameChain kChain>
__attribute__((always_inline)) inline uint64_t HashOf(const FrameOffsets& o, uint64_t frame, size_t max_frames) {
  uint64_t codes = 0, positions = 0;
  // One more than is kept: it makes the stack a truncated one.
  for (size_t kept = 0; frame != 0 && kept <= max_frames; frame = Load(frame + o.frame_previous)) {
    codes = codes * kHashMultiplier + Load(frame + o.frame_code);
    positions = positions * kHashMultiplier;
    if (kChain == FrameChain::kObjects) {
      positions += static_cast<uint64_t>(Load<int32_t>(frame + o.frame_position));
    } else {
      positions += Load(frame + o.frame_position);
    }
    if (kChain == FrameChain::kMarked) positions += uint64_t{Load<uint8_t>(frame + o.frame_is_entry)} << 56;
    kept += kChain != FrameChain::kShims || Load<uint8_t>(frame + o.frame_owner) <= kOwnedByFrameObject;
  }
  return Mix(Mix(0, codes), positions) | 1;
}

}  // namespace

uint64_t HashOfFrames(const FrameOffsets& offsets, uint64_t innermost, size_t max_frames) {
  switch (offsets.chain) {
    case FrameChain::kObjects:
      return HashOf<FrameChain::kObjects>(offsets, innermost, max_frames);
    case FrameChain::kMarked:
      return HashOf<FrameChain::kMarked>(offsets, innermost, max_frames);
    default:
      return HashOf<FrameChain::kShims>(offsets, innermost, max_frames);
  }
}

namespace {

size_t Utf8Bytes(uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

}  // namespace

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

size_t TextAsUtf8(const FrameOffsets& offsets, uint64_t text, char* to, size_t capacity) {
  const uint64_t length = Load(text + kTextLength);
  const auto state = Load<uint32_t>(text + kTextState);
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

// Whether the frame is at an instruction of its code.
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
