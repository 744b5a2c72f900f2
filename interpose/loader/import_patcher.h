// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_LOADER_IMPORT_PATCHER_H_
#define INTERPOSE_LOADER_IMPORT_PATCHER_H_

#include <atomic>

#include "interpose/base/growing_array.h"
#include "interpose/loader/loaded_object.h"

namespace vramtrack {

// Returns the function that an import should call instead, or null to leave it. `bound` is the function that it calls
// now.
using Replacement = void* (*)(const LoadedObject& importer, const char* name, const void* bound);

// Returns whether imports of this name may be replaced.
using Wanted = bool (*)(const char* name);

// Returns the number of libraries that were loaded since the program began. Takes the loader's lock of its list.
unsigned long long LibrariesLoaded();

// Redirects imports for good. Thread-safe: the loader's lock of its list is held, so two threads do not patch at once.
class NewImports {
 public:
  constexpr NewImports(Wanted wanted, Replacement replacement) : wanted_(wanted), replacement_(replacement) {}
  // PatchAll stores what `replacement` returns for the wanted imports of every loaded library except this one. Patch
  // does so if libraries were loaded since the last call. Addresses that a library keeps in its data are replaced too,
  // but not what it has put there itself.
  void PatchAll();
  void Patch() {
    if (libraries_seen_.load() != LibrariesLoaded()) PatchAll();
  }

 private:
  const Wanted wanted_;
  const Replacement replacement_;
  std::atomic<unsigned long long> libraries_seen_{0};  // number of libraries loaded since the program began
};

// Redirects imports and, later, restores them. All functions are thread-safe. Place it in static memory.
class BorrowedImports {
 public:
  constexpr explicit BorrowedImports(Replacement replacement) : replacement_(replacement) {}

  // Redirects the imports of all libraries, and remembers where they led. Without memory to remember it, an import
  // stays.
  void Borrow();
  // From now on, BorrowNew redirects.
  void Begin() { on_.store(true, std::memory_order_release); }
  // Redirects the imports of libraries that are new since the last call, and does nothing after GiveBack.
  void BorrowNew();
  // Stores back what was there in each import that still has what Borrow has stored. Threads may be in functions to
  // which imports led until now: these must stay in memory.
  void GiveBack();

 private:
  struct Loan {
    void** slot;
    void* lent;  // what it leads to now
    void* own;   // what it led to before
  };
  bool Remember(const Loan& loan);

  const Replacement replacement_;
  std::atomic<bool> on_{false};
  GrowingArray<Loan> loans_ = {};  // under the loader's lock of its list
};

}  // namespace vramtrack

#endif  // INTERPOSE_LOADER_IMPORT_PATCHER_H_
