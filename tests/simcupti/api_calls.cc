// SPDX-License-Identifier: Apache-2.0
#include "tests/simcupti/api_calls.h"

#include <cupti.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/simcupti/state.h"

namespace vramtrack::simcupti {
namespace {

thread_local std::vector<uint64_t> pushed[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

bool IsKind(CUpti_ExternalCorrelationKind kind) { return kind > 0 && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; }

// Records of the ids that this thread has pushed last, one of each kind, for the call whose record comes next. With the
// lock held.
void TellExternalIds(State* state, uint32_t correlation) {
  for (int kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
    if (pushed[kind].empty()) continue;
    auto* record = NewRecord<CUpti_ActivityExternalCorrelation>(state, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    if (record == nullptr) continue;
    record->externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
    record->externalId = pushed[kind].back();
    record->correlationId = correlation;
  }
}

#pragma GCC visibility push(default)
extern "C" {

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  if (!IsKind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  pushed[kind].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t* last) {
  if (!IsKind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (pushed[kind].empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = pushed[kind].back();
  pushed[kind].pop_back();
  return CUPTI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop

constexpr CUpti_ActivityKind kRuntime = CUPTI_ACTIVITY_KIND_RUNTIME, kDriver = CUPTI_ACTIVITY_KIND_DRIVER;
constexpr size_t kNumbers = 4096;

struct Name {
  const char* name;
  ApiCall call;
};
constexpr Name kNames[] = {
#define SIMCUPTI_RUNTIME_CALL(name, number) {#name, {kRuntime, number}},
#define SIMCUPTI_DRIVER_CALL(name, number) {#name, {kDriver, number}},
#include SIMCUPTI_CALL_NUMBERS
};

// Of a function that there are several of, the newest.
std::map<std::string, ApiCall>* NumberedCalls() {
  auto* calls = new std::map<std::string, ApiCall>;
  for (const Name& each : kNames) (*calls)[each.name] = each.call;
  return calls;
}

const std::map<std::string, ApiCall>& Calls() {
  static const auto& calls = *NumberedCalls();
  return calls;
}

// What is exported at that address; kind 0 for none of the API.
ApiCall LookUp(const void* function) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::unordered_map<const void*, ApiCall>;
  std::lock_guard<std::mutex> lock(mutex);
  const auto [found, is_new] = known.emplace(function, ApiCall{});
  Dl_info info;
  if (is_new && dladdr(function, &info) != 0 && info.dli_saddr == function && info.dli_sname != nullptr) {
    const auto call = Calls().find(info.dli_sname);
    if (call != Calls().end()) found->second = call->second;
  }
  return found->second;
}

// Asked for, by kind and number; read at every call.
std::atomic<bool> any_wanted{false};
std::atomic<bool> wanted[2][kNumbers];

std::atomic<bool>* Wanted(CUpti_ActivityKind kind) { return wanted[kind == kDriver]; }

struct Current {
  unsigned depth;
  ApiCall call;
  const void* frame;
  uint32_t correlation;
  uint64_t start;
};
thread_local Current current;

void Tell(const Current& from, uint64_t end) {
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (!Wanted(from.call.kind)[from.call.number].load(std::memory_order_relaxed)) return;
  TellExternalIds(&state, from.correlation);
  auto* record = NewRecord<CUpti_ActivityAPI>(&state, from.call.kind);
  if (record == nullptr) return;
  record->cbid = from.call.number;
  record->start = from.start;
  record->end = end;
  record->processId = static_cast<uint32_t>(getpid());
  record->threadId = static_cast<uint32_t>(syscall(SYS_gettid));
  record->correlationId = from.correlation;
}

}  // namespace

void FunctionEntered(const void* function, const void* frame) {
  if (!any_wanted.load(std::memory_order_relaxed)) return;
  const ApiCall call = LookUp(function);
  if (call.kind == 0) return;
  // A caller's frame is higher up: what is said to go on there ended unseen.
  if (current.depth != 0 && frame >= current.frame) current.depth = 0;
  if (current.depth++ != 0) return;
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  current = {1, call, frame, ++state.correlation, Now()};
}

void FunctionLeft(const void* function) {
  if (current.depth == 0 || LookUp(function).kind == 0 || --current.depth != 0) return;
  Tell(current, Now());
}

uint32_t Correlation(State* state) { return current.depth != 0 ? current.correlation : ++state->correlation; }

void WantCalls(CUpti_ActivityKind kind, bool on) {
  if (kind != kRuntime && kind != kDriver) return;
  for (size_t i = 0; i < kNumbers; ++i) Wanted(kind)[i].store(on, std::memory_order_relaxed);
  if (on) any_wanted.store(true, std::memory_order_relaxed);
}

bool WantCall(CUpti_ActivityKind kind, uint32_t number, bool on) {
  if (number >= kNumbers) return false;
  Wanted(kind)[number].store(on, std::memory_order_relaxed);
  if (on) any_wanted.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace vramtrack::simcupti
