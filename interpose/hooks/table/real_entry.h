// SPDX-License-Identifier: Apache-2.0
//
// Finds the real function of a hook for a given caller: a process may contain the CUDA runtime twice, and each library
// must reach the one that it was linked with.
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

// Returns the name under which the library exports the function.
const char* EntryName(Entry entry);

// Returns the entry with that name, or Entry::kCount if there is none. Thread- and signal-safe; needs a few
// comparisons.
Entry EntryNamed(const char* name);

// Returns whether the function belongs to a framework. Its callers are libraries that need the library of the
// framework.
bool IsOfFramework(Entry entry);

// The libraries that contain real functions.
class Providers {
 public:
  static constexpr size_t kMax = 16;

  // Returns the function that `caller`, an address in the calling code, would reach without the hooks; null if no
  // loaded library has it. A known call site needs one table look-up. Thread- and signal-safe.
  static void* Real(Entry entry, const void* caller) {
    const uint64_t site = reinterpret_cast<uint64_t>(caller) << 16;
    const uint64_t seen = call_sites_[Slot(site)].load(std::memory_order_acquire);
    if (__builtin_expect((seen ^ site) < kMax, 1)) {
      void* real = functions_[seen & (kMax - 1)][static_cast<size_t>(entry)].load(std::memory_order_relaxed);
      if (__builtin_expect(real != nullptr, 1)) return real;
    }
    return Find(entry, caller);
  }

  // Returns whether the library of `caller` contains the function or needs a library that does.
  static bool IsNeededBy(Entry entry, const void* caller);

  // Returns a counter that changes whenever a library may have been unloaded.
  static uint32_t unloads() { return unloads_.load(std::memory_order_acquire); }

  // Called before and after every unloading of a library; its functions are forgotten.
  static void BeforeUnload();
  static void AfterUnload();

 private:
  static constexpr size_t kCallSites = 4096;

  static size_t Slot(uint64_t site) { return site * 0x9e3779b97f4a7c15 >> 52; }
  static void* Find(Entry entry, const void* caller);
  static size_t Number(uint64_t base);
  static void ForgetCallSites();

  // Each entry has the return address of the call in the upper 48 bits and the number of the library in the lower ones.
  static std::atomic<uint64_t> call_sites_[kCallSites];
  static std::atomic<void*> functions_[kMax][kEntryCount];
  static std::atomic<uint64_t> bases_[kMax];  // load bias + 1
  static std::atomic<uint32_t> unloading_, unloads_;
};

// Returns the major version of the CUDA runtime that contains a real function, 0 if the name of its library does not
// show it.
int RuntimeMajor(const void* real);

// Returns whether `name` is one of the libraries of CUDA whose functions are hooked.
bool IsCudaLibrary(const char* name);

// Functions that a program looks up instead of calling them by their symbol: with dlsym, cuGetProcAddress or
// cudaGetDriverEntryPoint. The real look-up runs first, with the version and flags that the program asked for. The hook
// is then chosen by the resulting address.

// Each hook has three wrappers: one for calls by symbol, and two for looked-up functions, so that two copies of a
// library are distinguished.
constexpr int kBySymbol = 0;
constexpr int kLookedUpWays = 2;

// All wrappers, as [entry][way], from the table of hooks.
extern void* const wrappers[kEntryCount][1 + kLookedUpWays];

// The real functions that the wrappers of looked-up functions call.
extern std::atomic<void*> looked_up[kLookedUpWays][kEntryCount];

// Returns the wrapper that replaces `found`, the address of a function named `name` in a library of CUDA; returns
// `found` itself if there is no hook for it. Thread-safe. Allocates no memory; the first function of a library takes
// about 50 us.
void* WrapperFor(void* found, const char* name);

// Forgets looked-up functions whose library has been unloaded. Call it after a library may have been unloaded.
void LookedUpLibrariesChanged();

// Returns the dlsym of glibc, even if another library interposes it.
using DlsymFunction = void* (*)(void*, const char*);
DlsymFunction RealDlsym();

}  // namespace vramtrack

// Before the definition of a function that the library exports.
#define VRAMTRACK_EXPORT extern "C" __attribute__((visibility("default")))

// The entry of a function whose name is a macro.
#define VRAMTRACK_ENTRY_OF(name) VRAMTRACK_ENTRY_OF_EXPANDED(name)
#define VRAMTRACK_ENTRY_OF_EXPANDED(name) ::vramtrack::Entry::k_##name

// In a hook that returns nothing: calls the real function, if there is one.
#define VRAMTRACK_PASS_ON(entry, parameters, arguments)                                                          \
  if (void* const real = ::vramtrack::Providers::Real(VRAMTRACK_ENTRY_OF(entry), __builtin_return_address(0))) { \
    reinterpret_cast<void(*) parameters>(real) arguments;                                                        \
  }

#endif  // INTERPOSE_HOOKS_TABLE_REAL_ENTRY_H_
