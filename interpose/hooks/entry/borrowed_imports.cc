// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/entry/borrowed_imports.h"

#include <cstddef>

#include "interpose/loader/loaded_object.h"

namespace vramtrack {

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

// Of two threads, one that borrows and one that gives back, the later one to change `on_` prevails.
void BorrowedImports::BorrowNew() {
  if (!on_.load(std::memory_order_acquire)) return;
  EachLoadedObject([&](const LoadedObject& object, size_t) {
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
  EachLoadedObject([&](const LoadedObject& object, size_t) {
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
