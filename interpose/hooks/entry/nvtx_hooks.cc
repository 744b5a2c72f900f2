// SPDX-License-Identifier: Apache-2.0
//
// Records the ranges and marks that a program sets with NVTX, in order to find steps. NVTX is header-only: every
// library that uses it has its own copy. At its first use, the copy loads the library that NVTX_INJECTION64_PATH names
// and passes its table of functions to it.
//
// The handle of a domain or of a registered string points to this library's copy of its text.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cwchar>

#include "interpose/hooks/table/call.h"
#include "interpose/hooks/table/nvtx_abi.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/python/frame_walk.h"
#include "interpose/session/early_marks.h"
#include "interpose/session/mark_names.h"

namespace vramtrack {
namespace {

using namespace nvtx;  // NOLINT: its callbacks are written as NVTX has them

constexpr int kNoTracking = -2;  // what a range's functions return where no tool is

// As UTF-8. Other bytes become question marks.
class Narrow {
 public:
  explicit Narrow(const wchar_t* text) {
    char* at = text_;
    for (size_t i = 0; text[i] != 0 && at + 4 < text_ + sizeof text_; ++i) {
      const auto c = static_cast<uint32_t>(text[i]);
      at = PutUtf8(c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? uint32_t{'?'} : c, at);
    }
  }
  const char* text() const { return text_; }

 private:
  char text_[PlainName::kMaxBytes + 8] = {};
};

// Ranges that start and end are numbered over all threads, from 1.
std::atomic<uint64_t> ranges_started;

void NoteWide(schema::MarkKind kind, const char* domain, const wchar_t* message, uint64_t id = 0) {
  RecordMark(kind, domain, message == nullptr ? nullptr : Narrow(message).text(), id);
}

void NoteEx(schema::MarkKind kind, const void* domain, const EventAttributes* attributes, uint64_t id = 0) {
  const auto* const of = static_cast<const char*>(domain);
  if (attributes == nullptr || attributes->size < sizeof(EventAttributes)) return RecordMark(kind, of, nullptr, id);
  switch (attributes->message_type) {
    case kAscii:
    case kRegistered:
      return RecordMark(kind, of, static_cast<const char*>(attributes->message), id);
    case kUnicode:
      return NoteWide(kind, of, static_cast<const wchar_t*>(attributes->message), id);
    default:
      return RecordMark(kind, of, nullptr, id);
  }
}

uint64_t NextRange() { return ranges_started.fetch_add(1, std::memory_order_relaxed) + 1; }

void MarkEx(const EventAttributes* attributes) { NoteEx(schema::MARK_INSTANT, nullptr, attributes); }
void MarkA(const char* message) { RecordMark(schema::MARK_INSTANT, nullptr, message); }
void MarkW(const wchar_t* message) { NoteWide(schema::MARK_INSTANT, nullptr, message); }

uint64_t DomainRangeStartEx(const void* domain, const EventAttributes* attributes) {
  const uint64_t id = NextRange();
  NoteEx(schema::MARK_RANGE_START, domain, attributes, id);
  return id;
}
uint64_t RangeStartEx(const EventAttributes* attributes) { return DomainRangeStartEx(nullptr, attributes); }
uint64_t RangeStartA(const char* message) {
  const uint64_t id = NextRange();
  RecordMark(schema::MARK_RANGE_START, nullptr, message, id);
  return id;
}
uint64_t RangeStartW(const wchar_t* message) {
  const uint64_t id = NextRange();
  NoteWide(schema::MARK_RANGE_START, nullptr, message, id);
  return id;
}
// Numbers are of all domains. One that was started before this tool was asked is none of them.
void DomainRangeEnd(const void*, uint64_t id) {
  if (id != 0 && id <= ranges_started.load(std::memory_order_relaxed)) {
    RecordMark(schema::MARK_RANGE_END, nullptr, nullptr, id);
  }
}
void RangeEnd(uint64_t id) { DomainRangeEnd(nullptr, id); }

int DomainRangePushEx(const void* domain, const EventAttributes* attributes) {
  NoteEx(schema::MARK_RANGE_PUSH, domain, attributes);
  return kNoTracking;
}
int RangePushEx(const EventAttributes* attributes) { return DomainRangePushEx(nullptr, attributes); }
int RangePushA(const char* message) {
  RecordMark(schema::MARK_RANGE_PUSH, nullptr, message);
  return kNoTracking;
}
int RangePushW(const wchar_t* message) {
  NoteWide(schema::MARK_RANGE_PUSH, nullptr, message);
  return kNoTracking;
}
int DomainRangePop(const void* domain) {
  RecordMark(schema::MARK_RANGE_POP, static_cast<const char*>(domain), nullptr);
  return kNoTracking;
}
int RangePop() { return DomainRangePop(nullptr); }

void DomainMarkEx(const void* domain, const EventAttributes* attributes) {
  NoteEx(schema::MARK_INSTANT, domain, attributes);
}

// Domains of one name are one. Those without a name, and those that have no room, are another.
const void* DomainCreateA(const char* name) {
  const char* const kept = name == nullptr || name[0] == '\0' ? nullptr : KeptText(name);
  return kept != nullptr ? kept : "?";
}
const void* DomainCreateW(const wchar_t* name) {
  return DomainCreateA(name == nullptr ? nullptr : Narrow(name).text());
}
const void* DomainRegisterStringA(const void*, const char* text) { return text == nullptr ? nullptr : KeptText(text); }
const void* DomainRegisterStringW(const void*, const wchar_t* text) {
  return text == nullptr ? nullptr : KeptText(Narrow(text).text());
}

struct Callback {
  int module;
  unsigned index;  // NvtxCallbackIdCore, NvtxCallbackIdCore2
  Function function;
};
#define VRAMTRACK_CALLBACK(module, index, function) \
  { module, index, reinterpret_cast<Function>(&function) }
const Callback kFunctions[] = {
    VRAMTRACK_CALLBACK(kCore, 1, MarkEx),
    VRAMTRACK_CALLBACK(kCore, 2, MarkA),
    VRAMTRACK_CALLBACK(kCore, 3, MarkW),
    VRAMTRACK_CALLBACK(kCore, 4, RangeStartEx),
    VRAMTRACK_CALLBACK(kCore, 5, RangeStartA),
    VRAMTRACK_CALLBACK(kCore, 6, RangeStartW),
    VRAMTRACK_CALLBACK(kCore, 7, RangeEnd),
    VRAMTRACK_CALLBACK(kCore, 8, RangePushEx),
    VRAMTRACK_CALLBACK(kCore, 9, RangePushA),
    VRAMTRACK_CALLBACK(kCore, 10, RangePushW),
    VRAMTRACK_CALLBACK(kCore, 11, RangePop),
    VRAMTRACK_CALLBACK(kCore2, 1, DomainMarkEx),
    VRAMTRACK_CALLBACK(kCore2, 2, DomainRangeStartEx),
    VRAMTRACK_CALLBACK(kCore2, 3, DomainRangeEnd),
    VRAMTRACK_CALLBACK(kCore2, 4, DomainRangePushEx),
    VRAMTRACK_CALLBACK(kCore2, 5, DomainRangePop),
    VRAMTRACK_CALLBACK(kCore2, 10, DomainRegisterStringA),
    VRAMTRACK_CALLBACK(kCore2, 11, DomainRegisterStringW),
    VRAMTRACK_CALLBACK(kCore2, 12, DomainCreateA),
    VRAMTRACK_CALLBACK(kCore2, 13, DomainCreateW),
};

}  // namespace
}  // namespace vramtrack

// NVTX calls this for each of its copies; 1 means success.
VRAMTRACK_EXPORT int InitializeInjectionNvtx2(const void* (*get_table)(uint32_t)) {
  using namespace vramtrack;        // NOLINT
  using namespace vramtrack::nvtx;  // NOLINT
  const auto* table = static_cast<const ExportedCallbacks*>(get_table(kCallbacks));
  if (table == nullptr || table->size < sizeof *table) return 0;
  for (const Callback& callback : kFunctions) {
    Function** functions = nullptr;
    unsigned count = 0;
    if (table->get_module_functions(callback.module, &functions, &count) == 0 || functions == nullptr) continue;
    if (callback.index < count && functions[callback.index] != nullptr) *functions[callback.index] = callback.function;
  }
  return 1;
}
