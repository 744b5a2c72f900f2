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

// Makes an import lead to `value`. A page that the loader made read-only is made writable for the store, then read-only
// again. The store is one instruction, so other threads may call the function meanwhile.
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

}  // namespace

unsigned long long LibrariesLoaded() {
  unsigned long long count = 0;
  EachLoaderEntry([&count](const dl_phdr_info& info) {
    count = info.dlpi_adds;
    return false;
  });
  return count;
}

void NewImports::PatchAll() {
  libraries_seen_.store(LibrariesLoaded());
  EachLoadedObject([this](const LoadedObject& object) {
    if (IsOwnObject(object)) return true;
    const auto patch = [&](const char* name, void** slot) {
      void* const value = replacement_(object, name, *slot);
      if (value != nullptr && value != *slot) StoreImport(object, slot, value);
    };
    object.EachImport([&](const char* name, void** slot) {
      if (wanted_(name)) patch(name, slot);
    });
    object.EachImportedAddress([&](const char* name, void** slot) {
      if (wanted_(name) && IsDefinition(name, *slot)) patch(name, slot);
    });
    return true;
  });
}

// What an unloaded library has left at the same address is replaced.
bool BorrowedImports::Remember(const Loan& loan) {
  for (size_t i = 0; i < loans_.size(); ++i) {
    if (loans_[i].slot != loan.slot) continue;
    loans_[i] = loan;
    return true;
  }
  if (!loans_.Reserve(1)) return false;
  loans_.Add(loan);
  return true;
}

// Of two threads, one that borrows and one that returns, the later one to change `on_` prevails.
void BorrowedImports::BorrowNew() {
  if (!on_.load(std::memory_order_acquire)) return;
  EachLoadedObject([&](const LoadedObject& object) {
    if (IsOwnObject(object)) return true;
    object.EachImport([&](const char* name, void** slot) {
      void* const own = *slot;
      void* const value = replacement_(object, name, own);
      if (value == nullptr || value == own || !on_.load(std::memory_order_acquire)) return;
      if (Remember({slot, value, own})) StoreImport(object, slot, value);
    });
    return true;
  });
}

void BorrowedImports::Borrow() {
  Begin();
  BorrowNew();
}

void BorrowedImports::GiveBack() {
  on_.store(false, std::memory_order_release);
  EachLoadedObject([&](const LoadedObject& object) {
    if (IsOwnObject(object)) return true;
    object.EachImport([&](const char*, void** slot) {
      if (!IsOwnAddress(*slot) || on_.load(std::memory_order_acquire)) return;
      for (size_t i = 0; i < loans_.size(); ++i) {
        if (loans_[i].slot != slot || loans_[i].lent != *slot) continue;
        StoreImport(object, slot, loans_[i].own);
        return;
      }
    });
    return true;
  });
}

}  // namespace vramtrack
