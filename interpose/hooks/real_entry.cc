// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/real_entry.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace vramtrack {

std::atomic<void*> real_entries[static_cast<int>(Entry::kCount)];

namespace {

constexpr const char* kNames[] = {
#define VRAMTRACK_ALLOCATES(entry, ...) #entry,
#define VRAMTRACK_FREES(entry, ...) #entry,
#define VRAMTRACK_OBSERVES(entry, ...) #entry,
#include "interpose/hooks/runtime_api.inc"
};

int OnObject(dl_phdr_info* info, size_t, void* path) {
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* base = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (strncmp(base, "libcudart", 9) != 0) return 0;
  *static_cast<const char**>(path) = info->dlpi_name;
  return 1;
}

// A library that was loaded with RTLD_LOCAL, as Python does, is in no scope that RTLD_NEXT searches.
void* FindInLoadedRuntime(const char* name) {
  const char* path = nullptr;
  dl_iterate_phdr(OnObject, &path);
  void* library = path != nullptr ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (library == nullptr) return nullptr;
  void* found = dlsym(library, name);
  dlclose(library);
  return found;
}

// Before the program runs, so that the loader's lock is not asked for inside the first hook, where another thread may
// hold it and wait for us.
__attribute__((constructor)) void FindThoseLoaded() {
  if (dlsym(RTLD_NEXT, kNames[0]) == nullptr) return;
  for (int i = 0; i < static_cast<int>(Entry::kCount); ++i) FindRealEntry(static_cast<Entry>(i));
}

}  // namespace

void* FindRealEntry(Entry entry) {
  const int index = static_cast<int>(entry);
  void* found = dlsym(RTLD_NEXT, kNames[index]);
  if (found == nullptr) found = FindInLoadedRuntime(kNames[index]);
  if (found != nullptr) real_entries[index].store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace vramtrack
