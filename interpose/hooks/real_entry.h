// SPDX-License-Identifier: Apache-2.0
//
// Where the real CUDA functions are.
#ifndef INTERPOSE_HOOKS_REAL_ENTRY_H_
#define INTERPOSE_HOOKS_REAL_ENTRY_H_

#include <atomic>

namespace vramtrack {

enum class Entry {
#define VRAMTRACK_ALLOCATES(entry, ...) k_##entry,
#define VRAMTRACK_FREES(entry, ...) k_##entry,
#define VRAMTRACK_OBSERVES(entry, ...) k_##entry,
#include "interpose/hooks/runtime_api.inc"
#undef VRAMTRACK_ALLOCATES
#undef VRAMTRACK_FREES
#undef VRAMTRACK_OBSERVES
  kCount
};

extern std::atomic<void*> real_entries[static_cast<int>(Entry::kCount)];

// Looks the entry up: null where no loaded library has it.
void* FindRealEntry(Entry entry);

inline void* RealEntry(Entry entry) {
  void* real = real_entries[static_cast<int>(entry)].load(std::memory_order_relaxed);
  return __builtin_expect(real != nullptr, 1) ? real : FindRealEntry(entry);
}

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_REAL_ENTRY_H_
