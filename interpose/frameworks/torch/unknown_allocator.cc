// SPDX-License-Identifier: Apache-2.0
#include "interpose/frameworks/torch/unknown_allocator.h"

#include <cstring>

#include "interpose/base/spin_lock.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/hooks/table/unseen.h"
#include "interpose/loader/loaded_object.h"

namespace vramtrack::torch {
namespace {

constexpr char kReport[] = "_ZN3c1027reportMemoryUsageToProfilerE";  // before its parameters

// Where the caching allocator is, as every wheel names it; repackaged ones put a hash behind it.
bool HasCachingAllocator(const LoadedObject& object) { return strncmp(object.name(), "libc10_cuda", 11) == 0; }

bool ReportsKnownBlocks(const LoadedObject& object) {
  bool known = false;
  object.EachImport([&](const char* name, void**) {
    known = known || (strncmp(name, kReport, sizeof kReport - 1) == 0 && EntryNamed(name) != Entry::kCount);
  });
  return known;
}

}  // namespace

void NoteUnknownAllocators() {
  // Noting may record, which is not to be done under the loader's lock.
  constexpr size_t kMax = 4;
  const char* names[kMax];
  size_t count = 0;
  // One thread at a time remembers which libraries it has seen; another one looks at all.
  static SpinLock lock;
  static VisitedObjects visited;
  VisitedObjects none = {};
  const bool alone = lock.TryLock();
  EachNewObject(alone ? &visited : &none, [&](const LoadedObject& object) {
    if (count < kMax && HasCachingAllocator(object) && !ReportsKnownBlocks(object)) names[count++] = object.name();
  });
  if (alone) lock.Unlock();
  for (size_t i = 0; i < count; ++i) NoteUnseen(names[i], schema::UNSEEN_BLOCKS);
}

}  // namespace vramtrack::torch
