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
  // Returns the function that `caller`, an address in the calling code, would reach without the hooks; null if no
  // loaded library has it. A known call site needs one table look-up. Thread- and signal-safe.
  static void* Real(Entry entry, const void* caller) {
    const uint64_t key = KeyOf(entry, caller);
    const CallSite& site = call_sites_[Slot(key)];
    if (__builtin_expect(site.key.load(std::memory_order_acquire) == key, 1)) {
      void* const real = site.real.load(std::memory_order_acquire);
      if (__builtin_expect(site.key.load(std::memory_order_relaxed) == key, 1)) return real;
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

  // A call site and its real function, in one cache line. Only who has set the key to kBeingWritten writes.
  struct alignas(16) CallSite {
    std::atomic<uint64_t> key;
    std::atomic<void*> real;
  };

  // The return address of the call, of 48 bits, and the entry.
  static uint64_t KeyOf(Entry entry, const void* caller) {
    return reinterpret_cast<uint64_t>(caller) << 16 | static_cast<uint64_t>(entry);
  }
  static constexpr uint64_t kBeingWritten = ~uint64_t{0};
  static size_t Slot(uint64_t key) { return key * 0x9e3779b97f4a7c15 >> 52; }
  static void* Find(Entry entry, const void* caller);
  static void ForgetCallSites();

  static CallSite call_sites_[kCallSites];
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

// Whether this library came into a process that ran already, or the driver loaded it. Earlier calls were not seen, and
// it is not in the symbol scope of any other library.
extern std::atomic<bool> joined;

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
