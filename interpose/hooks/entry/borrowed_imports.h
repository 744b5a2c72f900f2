// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_HOOKS_ENTRY_BORROWED_IMPORTS_H_
#define INTERPOSE_HOOKS_ENTRY_BORROWED_IMPORTS_H_

#include <atomic>

#include "interpose/base/growing_array.h"
#include "interpose/loader/import_patcher.h"

namespace vramtrack {

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

#endif  // INTERPOSE_HOOKS_ENTRY_BORROWED_IMPORTS_H_
