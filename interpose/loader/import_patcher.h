// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_LOADER_IMPORT_PATCHER_H_
#define INTERPOSE_LOADER_IMPORT_PATCHER_H_

#include <atomic>

#include "interpose/loader/loaded_object.h"

namespace vramtrack {

// What an import should call instead, or null. `bound`: what it calls now.
using Replacement = void* (*)(const LoadedObject& importer, const char* name, const void* bound);

// Goes through the imports of every loaded library but ours. Pages that the loader made read-only are opened for the
// store and closed again. Holds the loader's short lock for its list meanwhile, so two
// threads do not patch at once; a store is one instruction, so others may call.
void PatchImports(Replacement replacement);

// The same, for imports of libraries that are loaded later. Thread-safe.
class NewImports {
 public:
  constexpr explicit NewImports(Replacement replacement) : replacement_(replacement) {}
  // Goes through all imports where libraries were loaded since the last call, and in the first one.
  void Patch();

 private:
  const Replacement replacement_;
  std::atomic<unsigned long long> libraries_seen_{0};  // loaded since the program began
};

}  // namespace vramtrack

#endif  // INTERPOSE_LOADER_IMPORT_PATCHER_H_
