// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_DIE_TREE_H_
#define ANALYZER_SYMBOLS_DIE_TREE_H_

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace vramtrack {

// Steps through the children of a DIE. A damaged file can make siblings point backwards; such a list ends there, so
// that every walk does.
class DieChildren {
 public:
  explicit DieChildren(Dwarf_Die parent);

  // The next child; null after the last. Overwritten by the next call.
  Dwarf_Die* Next();

 private:
  Dwarf_Die die_;
  bool first_ = true;
  bool valid_;
};

// Calls `found(begin, end)` for each range of addresses of `die`.
void ForEachRange(Dwarf_Die* die, const std::function<void(Dwarf_Addr, Dwarf_Addr)>& found);

// Whether the code of `die` includes `address`; also true for a lexical block without a range of its own.
bool HoldsAddress(Dwarf_Die* die, Dwarf_Addr address);

// Calls `found` for each function below `unit`, declarations included. Compilers for C++ put no code below types but
// those inside of functions, and types are most of the tree: without `in_types_too` the others are passed over.
void ForEachFunction(Dwarf_Die unit, bool in_types_too, const std::function<void(Dwarf_Die*)>& found);

// The inlined functions at `address` in `function`, outermost first.
std::vector<Dwarf_Die> InlinedFunctionsAt(Dwarf_Die function, Dwarf_Addr address);

// The name of a function: mangled where it has a linkage name (then `*mangled` is true), else with its namespaces and
// classes. Empty if it has none.
std::string FunctionName(Dwarf_Die* function, bool* mangled);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_DIE_TREE_H_
