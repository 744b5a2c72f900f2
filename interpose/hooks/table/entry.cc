// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/entry.h"

#include <cstring>

namespace vramtrack {
namespace {

constexpr const char* kNames[] = {
#define VRAMTRACK_ENTRY(entry, parameters) #entry,
#include "interpose/hooks/table/api.inc"
};

constexpr bool kOfFramework[] = {
#define VRAMTRACK_FRAMEWORK_ENTRY(entry, parameters) true,
#define VRAMTRACK_ENTRY(entry, parameters) false,
#include "interpose/hooks/table/api.inc"
};

// Open addressing, filled at compile time: look-ups come before any constructor has run.
constexpr size_t kSlots = 1024;
static_assert(kEntryCount * 2 < kSlots, "half of the slots stay free");

constexpr uint32_t HashOf(const char* name) {
  uint32_t h = 2166136261u;
  for (; *name != '\0'; ++name) h = (h ^ static_cast<unsigned char>(*name)) * 16777619u;
  return h;
}

struct NameIndex {
  uint16_t slots[kSlots] = {};  // 1 + entry, 0: free
  constexpr NameIndex() {
    for (size_t i = 0; i < kEntryCount; ++i) {
      size_t slot = HashOf(kNames[i]) % kSlots;
      while (slots[slot] != 0) slot = (slot + 1) % kSlots;
      slots[slot] = static_cast<uint16_t>(i + 1);
    }
  }
};
constexpr NameIndex kIndex;

}  // namespace

const char* EntryName(Entry entry) { return kNames[static_cast<size_t>(entry)]; }

bool IsOfFramework(Entry entry) { return kOfFramework[static_cast<size_t>(entry)]; }

Entry EntryNamed(const char* name) {
  for (size_t slot = HashOf(name) % kSlots; kIndex.slots[slot] != 0; slot = (slot + 1) % kSlots) {
    const size_t entry = kIndex.slots[slot] - 1u;
    if (strcmp(kNames[entry], name) == 0) return static_cast<Entry>(entry);
  }
  return Entry::kCount;
}

}  // namespace vramtrack
