// SPDX-License-Identifier: Apache-2.0
//
// NVTX's marks and ranges, which come here where NVTX_INJECTION64_PATH names this library.
#include <cupti.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "interpose/hooks/table/nvtx_abi.h"
#include "tests/simcupti/state.h"

namespace vramtrack::simcupti {
namespace {

using namespace nvtx;  // NOLINT: its callbacks are written as NVTX has them

constexpr int kNoTracking = -2;

// Texts stay, as records point at them.
const char* Kept(const char* text) {
  static auto& kept = *new std::set<std::string>;
  return text == nullptr ? nullptr : kept.insert(text).first->c_str();
}

void Tell(CUpti_ActivityFlag flags, uint32_t id, const char* name, const char* domain) {
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  auto* record = NewRecord<CUpti_ActivityMarker2>(&state, CUPTI_ACTIVITY_KIND_MARKER);
  if (record == nullptr) return;
  record->flags = flags;
  record->timestamp = Now();
  record->id = id;
  record->name = Kept(name);
  record->domain = Kept(domain);
}

uint32_t NextId() {
  static std::atomic<uint32_t> last{0};
  return ++last;
}

thread_local std::vector<uint32_t> ranges;

const char* MessageOf(const EventAttributes* attributes) {
  return attributes != nullptr && attributes->message_type == kAscii ? static_cast<const char*>(attributes->message)
                                                                     : nullptr;
}

void MarkA(const char* message) { Tell(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, NextId(), message, nullptr); }
void MarkEx(const EventAttributes* attributes) { MarkA(MessageOf(attributes)); }

int Push(const char* message, const char* domain) {
  ranges.push_back(NextId());
  Tell(CUPTI_ACTIVITY_FLAG_MARKER_START, ranges.back(), message, domain);
  return static_cast<int>(ranges.size()) - 1;
}
int RangePushA(const char* message) { return Push(message, nullptr); }
int RangePushEx(const EventAttributes* attributes) { return Push(MessageOf(attributes), nullptr); }
int RangePop() {
  if (ranges.empty()) return kNoTracking;
  Tell(CUPTI_ACTIVITY_FLAG_MARKER_END, ranges.back(), nullptr, nullptr);
  ranges.pop_back();
  return static_cast<int>(ranges.size());
}

const void* DomainCreate(const char* name) {
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  return Kept(name);
}
int DomainRangePushEx(const void* domain, const EventAttributes* attributes) {
  return Push(MessageOf(attributes), static_cast<const char*>(domain));
}
int DomainRangePop(const void*) { return RangePop(); }

struct Callback {
  int module;
  unsigned index;  // NvtxCallbackIdCore, NvtxCallbackIdCore2
  Function function;
};
#define SIMCUPTI_CALLBACK(module, index, function) \
  { module, index, reinterpret_cast<Function>(&function) }
const Callback kFunctions[] = {
    SIMCUPTI_CALLBACK(kCore, 1, MarkEx),          SIMCUPTI_CALLBACK(kCore, 2, MarkA),
    SIMCUPTI_CALLBACK(kCore, 8, RangePushEx),     SIMCUPTI_CALLBACK(kCore, 9, RangePushA),
    SIMCUPTI_CALLBACK(kCore, 11, RangePop),       SIMCUPTI_CALLBACK(kCore2, 4, DomainRangePushEx),
    SIMCUPTI_CALLBACK(kCore2, 5, DomainRangePop), SIMCUPTI_CALLBACK(kCore2, 12, DomainCreate),
};

}  // namespace
}  // namespace vramtrack::simcupti

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void* (*get_table)(uint32_t)) {
  using namespace vramtrack::nvtx;  // NOLINT
  const auto* table = static_cast<const ExportedCallbacks*>(get_table(kCallbacks));
  if (table == nullptr || table->size < sizeof *table) return 0;
  for (const auto& callback : vramtrack::simcupti::kFunctions) {
    Function** functions = nullptr;
    unsigned count = 0;
    if (table->get_module_functions(callback.module, &functions, &count) == 0 || functions == nullptr) continue;
    if (callback.index < count && functions[callback.index] != nullptr) *functions[callback.index] = callback.function;
  }
  return 1;
}
