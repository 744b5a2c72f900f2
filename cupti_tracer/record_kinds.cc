// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/record_kinds.h"

#include <string.h>

#include "cupti_tracer/cupti_abi.h"

namespace vramtrack::cupti {

const RecordKind kRecordKinds[] = {
    {"memory", {kMemory2, 0}, true},
    {"pools", {kMemoryPool, 0}, true},
    {"kernels", {kConcurrentKernel, 0}, false},
    {"copies", {kMemcpy, kMemcpyPeer}, false},
    {"fills", {kMemset, 0}, false},
    {"synchronization", {kSynchronization, 0}, false},
    {"graphs", {kGraphTrace, 0}, false},
    {"calls", {kRuntime, kDriver}, false},
    {"markers", {kMarker, 0}, false},
    {"unified", {kUnifiedMemoryCounter, 0}, false},
    {"external", {kExternalCorrelation, 0}, false},
};
const size_t kRecordKindCount = sizeof kRecordKinds / sizeof *kRecordKinds;

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
    uint32_t bit = 0;
    for (size_t i = 0; i < kRecordKindCount; ++i) {
      if (strncmp(text, kRecordKinds[i].name, length) == 0 && kRecordKinds[i].name[length] == '\0') bit = 1u << i;
    }
    if (bit == 0) return false;
    set |= bit;
    text += length;
    if (*text == '\0') break;
  }
  *kinds = set;
  return true;
}

}  // namespace vramtrack::cupti
