// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/code_deaths.h"

#include "interpose/python/frame_walk.h"

namespace vramtrack {
namespace {

// PyTypeObject.tp_dealloc, of all versions.
constexpr uint64_t kTypeDealloc = 48;

}  // namespace

std::atomic<uint64_t> CodeDeaths::met_[], CodeDeaths::dead_[];
std::atomic<uint32_t> CodeDeaths::count_;
std::atomic<bool> CodeDeaths::unseen_;
void (*CodeDeaths::originals_[])(void*);

// Called with the interpreter's lock held, as the original is. It takes none.
template <size_t kSlot>
void CodeDeaths::Dealloc(void* code) {
  // The interpreter loaded the address of this function without ordering: what Watch stored before it comes after.
  std::atomic_thread_fence(std::memory_order_acquire);
  const auto address = reinterpret_cast<uint64_t>(code);
  if ((met_[Word(address)].load(std::memory_order_relaxed) >> Bit(address) & 1) != 0) {
    Set(dead_, address);
    count_.fetch_add(1, std::memory_order_release);
  }
  originals_[kSlot](code);
}

void CodeDeaths::Watch(const Interpreter& interpreter, size_t slot) {
  static constexpr void (*kReplacements[kMaxInterpreters])(void*) = {Dealloc<0>, Dealloc<1>, Dealloc<2>, Dealloc<3>};
  auto* place = reinterpret_cast<void (**)(void*)>(interpreter.code_type() + kTypeDealloc);
  void (*original)(void*) = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  // A forked child finds its parent's.
  for (void (*replacement)(void*) : kReplacements) {
    if (original == replacement) return;
  }
  LoadedObject owner;
  const bool taken = slot >= kMaxInterpreters || (originals_[slot] != nullptr && originals_[slot] != original);
  if (taken || !FindLoadedObject(reinterpret_cast<const void*>(original), &owner) || !interpreter.IsIn(owner)) {
    unseen_.store(true, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_release);
    return;
  }
  originals_[slot] = original;
  __atomic_store_n(place, kReplacements[slot], __ATOMIC_RELEASE);
}

namespace {

namespace f = schema::code_field;

// Of longer names the end is kept, which says more.
constexpr size_t kMaxNameBytes = 400, kMaxFileBytes = 1000;
constexpr size_t kLinesInMessage = 1024;
constexpr size_t kMessageBytes = kMaxNameBytes + kMaxFileBytes + kLinesInMessage + 64;

uint64_t KeyOf(const PythonFrame& frame) {
  const uint64_t key = (frame.code() * 0x9e3779b97f4a7c15) ^ frame.fingerprint() * 0xd6e8feb86659fd93;
  return key | (key == 0);
}

}  // namespace

uint32_t CodeTable::NumberOf(const PythonFrame& frame, const FrameOffsets& offsets, EventWriter* writer) {
  const uint64_t key = KeyOf(frame);
  if (const uint64_t known = ids_.Find(key)) return static_cast<uint32_t>(known);
  CodeDeaths::Met(frame.code());
  const uint32_t id = next_id_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!Define(id, frame.code(), offsets, writer)) return 0;
  ids_.Insert(key, id);
  return id;
}

__attribute__((noinline)) bool CodeTable::Define(uint32_t id, uint64_t code, const FrameOffsets& o,
                                                 EventWriter* writer) {
  char text[kMaxFileBytes > kMaxNameBytes ? kMaxFileBytes : kMaxNameBytes];
  const uint64_t table = Load(code + o.code_line_table);
  const auto* lines = reinterpret_cast<const uint8_t*>(table) + kBytesData;
  uint64_t left = Load(table + kVarSize);
  for (bool first = true; first || left > 0; first = false) {
    const uint64_t piece = left < kLinesInMessage ? left : kLinesInMessage;
    const bool defined = writer->Define<kMessageBytes>(schema::definitions_field::codes, [&](MessageWriter* out) {
      out->Varint(f::id, id);
      if (first) {
        out->Bytes(f::name, text, TextAsUtf8(o, Load(code + o.code_qualified_name), text, kMaxNameBytes));
        out->Bytes(f::file, text, TextAsUtf8(o, Load(code + o.code_file), text, kMaxFileBytes));
        out->Varint(f::first_line, Load<uint32_t>(code + o.code_first_line));
        out->Varint(f::table, o.lines);
      }
      out->Bytes(f::lines, lines, piece);
    });
    if (!defined) return false;
    lines += piece;
    left -= piece;
  }
  return true;
}

}  // namespace vramtrack
