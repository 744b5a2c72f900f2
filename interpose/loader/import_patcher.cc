// SPDX-License-Identifier: Apache-2.0
#include "interpose/loader/import_patcher.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vramtrack {
namespace {

// Whether the address is that of the function `name` in the library that contains it.
bool IsDefinition(const char* name, const void* address) {
  LoadedObject library;
  return FindLoadedObject(address, &library) && library.Find(name) == address;
}

}  // namespace

void StoreImport(const LoadedObject& object, void** slot, void* value) {
  const auto at = reinterpret_cast<uint64_t>(slot);
  const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // The last page of the range may be only in part read-only by name; the loader protects whole pages below its end.
  const bool read_only =
      at >= object.relro_begin() / page_bytes * page_bytes && at < object.relro_end() / page_bytes * page_bytes;
  void* const page = reinterpret_cast<void*>(at / page_bytes * page_bytes);
  if (read_only && syscall(SYS_mprotect, page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  reinterpret_cast<std::atomic<void*>*>(slot)->store(value, std::memory_order_release);
  if (read_only) syscall(SYS_mprotect, page, page_bytes, PROT_READ);
}

unsigned long long LibrariesLoaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        *static_cast<unsigned long long*>(data) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

void PatchImports(Wanted wanted, Replacement replacement) {
  EachLoadedObject([&](const LoadedObject& object, size_t) {
    if (IsOwnObject(object)) return true;
    const auto patch = [&](const char* name, void** slot) {
      void* const value = replacement(object, name, *slot);
      if (value != nullptr && value != *slot) StoreImport(object, slot, value);
    };
    object.EachImport([&](const char* name, void** slot) {
      if (wanted(name)) patch(name, slot);
    });
    object.EachImportedAddress([&](const char* name, void** slot) {
      if (wanted(name) && IsDefinition(name, *slot)) patch(name, slot);
    });
    return true;
  });
}

void NewImports::Patch() {
  const unsigned long long now = LibrariesLoaded();
  if (libraries_seen_.exchange(now) != now) PatchImports(wanted_, replacement_);
}

}  // namespace vramtrack
