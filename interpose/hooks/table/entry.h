// SPDX-License-Identifier: Apache-2.0
//
// The hooked entry points by number and by name.
#ifndef INTERPOSE_HOOKS_TABLE_ENTRY_H_
#define INTERPOSE_HOOKS_TABLE_ENTRY_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

enum class Entry : uint16_t {
#define VRAMTRACK_ENTRY(entry, parameters) k_##entry,
#include "interpose/hooks/table/api.inc"
  kCount
};
constexpr size_t kEntryCount = static_cast<size_t>(Entry::kCount);

// As the library exports it.
const char* EntryName(Entry entry);

// Entry::kCount where no entry has that name. Thread- and signal-safe; a few comparisons.
Entry EntryNamed(const char* name);

// Whether it is a function of a framework, which is called by those that need the framework's library.
bool IsOfFramework(Entry entry);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_ENTRY_H_
