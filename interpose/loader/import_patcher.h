// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_LOADER_IMPORT_PATCHER_H_
#define INTERPOSE_LOADER_IMPORT_PATCHER_H_

#include <atomic>

#include "interpose/loader/loaded_object.h"

namespace vramtrack {

// Returns the function that an import should call instead, or null to leave it. `bound` is the function that it calls
// now.
using Replacement = void* (*)(const LoadedObject& importer, const char* name, const void* bound);

// Returns whether imports of this name may be replaced.
using Wanted = bool (*)(const char* name);

// Makes an import lead to `value`. A page that the loader made read-only is made writable for the store, then read-only
// again. The store is one instruction, so other threads may call the function meanwhile.
void StoreImport(const LoadedObject& object, void** slot, void* value);

// Calls `replacement` for the wanted imports of every loaded library except this one, and stores what it returns.
// Addresses that a library keeps in its data are replaced too, but not what it has put there itself.
// Holds the loader's lock of its list, so that two threads do not patch at once.
void PatchImports(Wanted wanted, Replacement replacement);

// Returns the number of libraries that were loaded since the program began. Takes the loader's lock of its list.
unsigned long long LibrariesLoaded();

// Patches the imports of libraries that are loaded later. Thread-safe.
class NewImports {
 public:
  constexpr NewImports(Wanted wanted, Replacement replacement) : wanted_(wanted), replacement_(replacement) {}
  // Patches all imports in the first call, and in later ones if libraries were loaded since the last call.
  void Patch();

 private:
  const Wanted wanted_;
  const Replacement replacement_;
  std::atomic<unsigned long long> libraries_seen_{0};  // number of libraries loaded since the program began
};

}  // namespace vramtrack

#endif  // INTERPOSE_LOADER_IMPORT_PATCHER_H_
