// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_LOADER_IMPORT_PATCHER_H_
#define INTERPOSE_LOADER_IMPORT_PATCHER_H_

#include "interpose/loader/loaded_object.h"

namespace vramtrack {

// What an import should call instead, or null. `bound`: what it calls now.
using Replacement = void* (*)(const LoadedObject& importer, const char* name, const void* bound);

// Goes through the imports of every loaded library but ours. Pages that the loader made read-only are opened for the
// store and closed again. Holds the loader's short lock for its list meanwhile, so two
// threads do not patch at once; a store is one instruction, so others may call.
void PatchImports(Replacement replacement);

}  // namespace vramtrack

#endif  // INTERPOSE_LOADER_IMPORT_PATCHER_H_
