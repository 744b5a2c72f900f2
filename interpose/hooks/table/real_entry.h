// SPDX-License-Identifier: Apache-2.0
//
// Where the real function behind a hook is, for who calls it: a process may hold the CUDA runtime twice, and each of
// its libraries must reach the one that it was linked with.
#ifndef INTERPOSE_HOOKS_TABLE_REAL_ENTRY_H_
#define INTERPOSE_HOOKS_TABLE_REAL_ENTRY_H_

#include <atomic>
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

// Libraries that real functions were found in.
class Providers {
 public:
  static constexpr size_t kMax = 16;

  // The function that `caller`, an address in the calling code, would reach without the hooks; null where no loaded
  // library has it. One look into a table where the call has been seen before. Thread- and signal-safe.
  static void* Real(Entry entry, const void* caller) {
    const uint64_t site = reinterpret_cast<uint64_t>(caller) << 16;
    const uint64_t seen = call_sites_[Slot(site)].load(std::memory_order_relaxed);
    if (__builtin_expect((seen ^ site) < kMax, 1)) {
      void* real = functions_[seen & (kMax - 1)][static_cast<size_t>(entry)].load(std::memory_order_relaxed);
      if (__builtin_expect(real != nullptr, 1)) return real;
    }
    return Find(entry, caller);
  }

  // Whether `caller`'s library has it or asks for a library that has.
  static bool IsNeededBy(Entry entry, const void* caller);

  // Changes whenever a library may be gone.
  static uint32_t unloads() { return unloads_.load(std::memory_order_acquire); }

  // Around every unloading of a library: what lies in it is forgotten.
  static void BeforeUnload();
  static void AfterUnload();

 private:
  static constexpr size_t kCallSites = 4096;

  static size_t Slot(uint64_t site) { return site * 0x9e3779b97f4a7c15 >> 52; }
  static void* Find(Entry entry, const void* caller);
  static size_t Number(uint64_t base);
  static void ForgetCallSites();

  // The address of the call's return in the upper 48 bits, the library's number in the lower ones.
  static std::atomic<uint64_t> call_sites_[kCallSites];
  static std::atomic<void*> functions_[kMax][kEntryCount];
  static std::atomic<uint64_t> bases_[kMax];  // load bias + 1
  static std::atomic<uint32_t> unloading_, unloads_;
};

// The major version of the CUDA runtime that a real function lies in, 0 if its library's name does not tell.
int RuntimeMajor(const void* real);

// Whether a library of that name is one of CUDA's own that hooked functions belong to.
bool IsCudaLibrary(const char* name);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_REAL_ENTRY_H_
