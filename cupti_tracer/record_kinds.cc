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
