// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_DIE_TREE_H_
#define ANALYZER_SYMBOLS_DIE_TREE_H_

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace vramtrack {

// Iterates over the children of a DIE. In a damaged file, siblings can point backwards. The iteration ends there, so it
// always terminates.
class DieChildren {
 public:
  explicit DieChildren(Dwarf_Die parent);

  // Returns the next child; null after the last. The next call overwrites the result.
  Dwarf_Die* Next();

 private:
  Dwarf_Die die_;
  bool first_ = true;
  bool valid_;
};

// Calls `found(begin, end)` for each address range of `die`.
void ForEachRange(Dwarf_Die* die, const std::function<void(Dwarf_Addr, Dwarf_Addr)>& found);

// Returns whether the code of `die` includes `address`. Also returns true for a lexical block without a range.
bool HoldsAddress(Dwarf_Die* die, Dwarf_Addr address);

// Calls `found` for each function below `unit`, including declarations. Without `in_types_too`, skips types outside of
// functions: they are most of the tree, and C++ compilers put no code below them.
void ForEachFunction(Dwarf_Die unit, bool in_types_too, const std::function<void(Dwarf_Die*)>& found);

// Returns the inlined functions at `address` in `function`, outermost first.
std::vector<Dwarf_Die> InlinedFunctionsAt(Dwarf_Die function, Dwarf_Addr address);

// Returns the name of a function. If it has a linkage name, returns that and sets `*mangled`; otherwise returns the
// name with its namespaces and classes. Empty if it has none.
std::string FunctionName(Dwarf_Die* function, bool* mangled);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_DIE_TREE_H_
