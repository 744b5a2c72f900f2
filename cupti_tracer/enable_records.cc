// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/enable_records.h"

#include <dlfcn.h>
#include <string.h>

#include "cupti_tracer/cupti_abi.h"
#include "cupti_tracer/other_tools.h"
#include "proto/schema_constants.h"

namespace vramtrack::cupti {
namespace {

// The memory functions, as CUPTI numbers them.
struct ApiFunction {
  uint32_t kind;  // schema::ActivityKind
  uint32_t number;
};
constexpr ApiFunction kMemoryFunctions[] = {
#define VRAMTRACK_API_CALL(kind, name, number) {schema::ACTIVITY_##kind, number},
#include "proto/api_calls.inc"
};

bool CanChooseCalls(const Library& library) {
  return library.cuptiActivityEnableRuntimeApi != nullptr && library.cuptiActivityEnableDriverApi != nullptr;
}

// A release does not know the numbers of a later one: only that none is taken is a failure.
int ChooseCalls(const Library& library, uint8_t enable) {
  int first = kSuccess;
  bool any = false;
  for (const ApiFunction& function : kMemoryFunctions) {
    const auto choose = function.kind == schema::ACTIVITY_RUNTIME_CALL ? library.cuptiActivityEnableRuntimeApi
                                                                       : library.cuptiActivityEnableDriverApi;
    const int result = choose(function.number, enable);
    any |= result == kSuccess;
    if (first == kSuccess) first = result;
  }
  return any ? kSuccess : first;
}

int EnableKind(const Library& library, const RecordKind& wanted) {
  if (wanted.late) return kSuccess;
  if (wanted.memory_calls && CanChooseCalls(library)) return ChooseCalls(library, 1);
  for (const uint32_t kind : wanted.kinds) {
    const int result = kind == 0 ? kSuccess : library.cuptiActivityEnable(kind);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

uint32_t DeviceCount() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return 0;
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  if (get == nullptr || get(&count) != 0 || count < 0) count = 0;
  dlclose(driver);
  return static_cast<uint32_t>(count);
}

}  // namespace

Enabled EnableRecords(const Library& library, uint32_t kinds) {
  Enabled enabled;
  for (size_t i = 0; i < kRecordKindCount; ++i) {
    if ((kinds >> i & 1) == 0) continue;
    const int result = EnableKind(library, kRecordKinds[i]);
    enabled.every_call |= kRecordKinds[i].memory_calls && !CanChooseCalls(library);
    if (result == kSuccess) continue;
    // What more a user asked for than the ledger needs may be missing in this release, or on this device.
    if (!kRecordKinds[i].by_default && (result == kInvalidKind || result == kNotSupported)) continue;
    enabled.result = result;
    enabled.refused = kRecordKinds[i].name;
    DisableRecords(library, kinds & ((2u << i) - 1));
    break;
  }
  return enabled;
}

Late EnableLateRecords(const Library& library, uint32_t kinds, int* result) {
  *result = kSuccess;
  Late state = Late::kNone;
  for (size_t i = 0; i < kRecordKindCount; ++i) {
    if ((kinds >> i & 1) == 0 || !kRecordKinds[i].late) continue;
    const uint32_t devices = DeviceCount();
    if (devices == 0) return Late::kNotYet;
    *result = library.cuptiActivityConfigureUnifiedMemoryCounter == nullptr ? kNotSupported : kSuccess;
    for (uint32_t device = 0; device < devices && *result == kSuccess; ++device) {
      UnifiedMemoryConfig configs[kUnifiedMemoryCounters];
      for (uint32_t counter = 1; counter <= kUnifiedMemoryCounters; ++counter) {
        configs[counter - 1] = {kUnifiedMemoryOfProcess, counter, device, 1};
      }
      *result = library.cuptiActivityConfigureUnifiedMemoryCounter(configs, kUnifiedMemoryCounters);
    }
    if (*result == kSuccess) *result = library.cuptiActivityEnable(kRecordKinds[i].kinds[0]);
    if (*result == kNotInitialized) return Late::kNotYet;
    state = *result == kSuccess ? Late::kEnabled : Late::kRefused;
  }
  return state;
}

void DisableRecords(const Library& library, uint32_t kinds) {
  for (size_t i = 0; i < kRecordKindCount; ++i) {
    if ((kinds >> i & 1) == 0) continue;
    bool others = false;
    for (const uint32_t kind : kRecordKinds[i].kinds) {
      others |= kind != 0 && EnabledByOthers(kind);
    }
    if (kRecordKinds[i].memory_calls && CanChooseCalls(library)) {
      if (!others) ChooseCalls(library, 0);
      continue;
    }
    for (const uint32_t kind : kRecordKinds[i].kinds) {
      if (kind != 0 && !EnabledByOthers(kind)) library.cuptiActivityDisable(kind);
    }
  }
}

const RecordKind kRecordKinds[] = {
    {"memory", {kMemory2, 0}, true},
    {"pools", {kMemoryPool, 0}, true},
    {"kernels", {kConcurrentKernel, 0}, false},
    {"copies", {kMemcpy, kMemcpyPeer}, false},
    {"fills", {kMemset, 0}, false},
    {"synchronization", {kSynchronization, 0}, false},
    {"graphs", {kGraphTrace, 0}, false},
    {"calls", {kRuntime, kDriver}, false, true},
    {"markers", {kMarker, 0}, false},
    {"unified", {kUnifiedMemoryCounter, 0}, false, false, true},
    {"external", {kExternalCorrelation, 0}, false, false, false, "calls"},
};
const size_t kRecordKindCount = sizeof kRecordKinds / sizeof *kRecordKinds;

namespace {

// 0 for a name that is not known.
uint32_t BitOf(const char* name, size_t length) {
  for (size_t i = 0; i < kRecordKindCount; ++i) {
    if (strncmp(name, kRecordKinds[i].name, length) == 0 && kRecordKinds[i].name[length] == '\0') return 1u << i;
  }
  return 0;
}

}  // namespace

bool ParseRecordKinds(const char* text, uint32_t* kinds) {
  uint32_t set = 0;
  for (size_t i = 0; i < kRecordKindCount; ++i) set |= static_cast<uint32_t>(kRecordKinds[i].by_default) << i;
  if (text == nullptr || *text == '\0') {
    *kinds = set;
    return true;
  }
  set = 0;
  for (;; ++text) {
    const size_t length = strcspn(text, ",");
    const uint32_t bit = BitOf(text, length);
    if (bit == 0) return false;
    set |= bit;
    text += length;
    if (*text == '\0') break;
  }
  for (size_t i = 0; i < kRecordKindCount; ++i) {
    const char* needs = kRecordKinds[i].needs;
    if ((set >> i & 1) != 0 && needs != nullptr) set |= BitOf(needs, strlen(needs));
  }
  *kinds = set;
  return true;
}

}  // namespace vramtrack::cupti
