// SPDX-License-Identifier: Apache-2.0
//
// Ranges and marks that a program sets with NVTX, for finding steps. NVTX is a header: every library that uses it has a
// copy of its own, which at its first use loads what NVTX_INJECTION64_PATH names and gives it its table of functions.
//
// Domains other than the default one are the libraries' own (CCCL has a range around each of its algorithms).
#include <cstddef>
#include <cstdint>

#include "interpose/hooks/call.h"
#include "interpose/hooks/mark_names.h"
#include "interpose/hooks/nvtx_abi.h"

namespace vramtrack {
namespace {

using namespace nvtx;  // NOLINT: its callbacks are written as NVTX has them

constexpr int kNoTracking = -2;  // what a range's functions return where no tool is

const char* MessageOf(const EventAttributes* attributes) {
  if (attributes == nullptr || attributes->size < sizeof(EventAttributes)) return nullptr;
  const bool text = attributes->message_type == kAscii || attributes->message_type == kRegistered;
  return text ? attributes->message : nullptr;
}

// A mark is no reason to begin recording.
void Note(schema::MarkKind kind, const char* message) {
  if (Session::Running() == nullptr) return;
  Call call(kNoFamily);
  if (!call.active()) return;
  const MarkName name = message == nullptr ? MarkName{} : NameOf(message, &call);
  call.Mark(kind, name.id, name.number);
}

void MarkEx(const EventAttributes* attributes) { Note(schema::MARK_INSTANT, MessageOf(attributes)); }
void MarkA(const char* message) { Note(schema::MARK_INSTANT, message); }
int RangePushEx(const EventAttributes* attributes) {
  Note(schema::MARK_RANGE_PUSH, MessageOf(attributes));
  return kNoTracking;
}
int RangePushA(const char* message) {
  Note(schema::MARK_RANGE_PUSH, message);
  return kNoTracking;
}
int RangePop() {
  Note(schema::MARK_RANGE_POP, nullptr);
  return kNoTracking;
}

void DomainMarkEx(const void* domain, const EventAttributes* attributes) {
  if (domain == nullptr) MarkEx(attributes);
}
int DomainRangePushEx(const void* domain, const EventAttributes* attributes) {
  return domain == nullptr ? RangePushEx(attributes) : kNoTracking;
}
int DomainRangePop(const void* domain) { return domain == nullptr ? RangePop() : kNoTracking; }
// All other domains are one.
const void* DomainCreate(const void*) {
  static const char other = 0;
  return &other;
}
const void* DomainRegisterString(const void* domain, const char* text) {
  return domain == nullptr && text != nullptr ? KeptText(text) : nullptr;
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
    VRAMTRACK_CALLBACK(kCore, 8, RangePushEx),
    VRAMTRACK_CALLBACK(kCore, 9, RangePushA),
    VRAMTRACK_CALLBACK(kCore, 11, RangePop),
    VRAMTRACK_CALLBACK(kCore2, 1, DomainMarkEx),
    VRAMTRACK_CALLBACK(kCore2, 4, DomainRangePushEx),
    VRAMTRACK_CALLBACK(kCore2, 5, DomainRangePop),
    VRAMTRACK_CALLBACK(kCore2, 10, DomainRegisterString),
    VRAMTRACK_CALLBACK(kCore2, 12, DomainCreate),
    VRAMTRACK_CALLBACK(kCore2, 13, DomainCreate),
};

}  // namespace
}  // namespace vramtrack

// NVTX calls this for each of its copies; 1 means success.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void* (*get_table)(uint32_t)) {
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
