// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/enable_records.h"

#include <string.h>

#include "cupti_tracer/cupti_abi.h"
#include "cupti_tracer/other_tools.h"

namespace vramtrack::cupti {
namespace {

int EnableKind(const Library& library, const RecordKind& wanted) {
  for (const uint32_t kind : wanted.kinds) {
    const int result = kind == 0 ? kSuccess : library.cuptiActivityEnable(kind);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

}  // namespace

Enabled EnableRecords(const Library& library, uint32_t kinds) {
  Enabled enabled;
  for (size_t i = 0; i < kRecordKindCount; ++i) {
    if ((kinds >> i & 1) == 0) continue;
    const int result = EnableKind(library, kRecordKinds[i]);
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

void DisableRecords(const Library& library, uint32_t kinds) {
  for (size_t i = 0; i < kRecordKindCount; ++i) {
    if ((kinds >> i & 1) == 0) continue;
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
  *kinds = set;
  return true;
}

}  // namespace vramtrack::cupti
