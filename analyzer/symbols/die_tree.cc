// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/die_tree.h"

#include <dwarf.h>

#include <optional>
#include <string_view>

#include "analyzer/symbols/demangle.h"

namespace vramtrack {
namespace {

// Deeper nesting than this is damage.
constexpr int kMaxDepth = 200;

// One range of a unit that the linker put elsewhere is common; this many in one DIE is damage.
constexpr int kMaxRanges = 1 << 20;

bool IsType(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_enumeration_type;
}

// `last` is the offset of the DIE visited last: in a sound tree they only grow. What a damaged one would make us visit
// again is left out, so that the walk ends in time.
void VisitFunctions(Dwarf_Die parent, bool types_too, int depth, Dwarf_Off& last,
                    const std::function<void(Dwarf_Die*)>& found) {
  if (depth > kMaxDepth) return;
  DieChildren children(parent);
  while (Dwarf_Die* child = children.Next()) {
    const Dwarf_Off offset = dwarf_dieoffset(child);
    if (offset <= last) return;
    last = offset;
    const int tag = dwarf_tag(child);
    const bool is_function = tag == DW_TAG_subprogram;
    if (is_function) found(child);
    const bool descend = is_function || tag == DW_TAG_namespace || tag == DW_TAG_module ||
                         tag == DW_TAG_lexical_block || (types_too && IsType(tag));
    // GCC keeps the functions of a lambda's class in that class.
    if (descend && dwarf_haschildren(child) > 0)
      VisitFunctions(*child, types_too || is_function, depth + 1, last, found);
  }
}

// The DIEs from below `parent` down to the one at `target`.
bool PathTo(Dwarf_Die parent, Dwarf_Off target, int depth, std::vector<Dwarf_Die>& path) {
  if (depth > kMaxDepth) return false;
  std::optional<Dwarf_Die> last;
  DieChildren children(parent);
  while (Dwarf_Die* child = children.Next()) {
    if (dwarf_dieoffset(child) > target) break;
    last = *child;
  }
  if (!last) return false;
  path.push_back(*last);
  return dwarf_dieoffset(&*last) == target || PathTo(*last, target, depth + 1, path);
}

// The DIE of the place where the function is written: the abstract instance of a copy, the declaration of a member.
Dwarf_Die Declaration(Dwarf_Die die) {
  constexpr int kMaxSteps = 16;
  for (int step = 0; step < kMaxSteps; ++step) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
         dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr) ||
        dwarf_formref_die(&attribute, &next) == nullptr) {
      break;
    }
    die = next;
  }
  return die;
}

const char* StringAttribute(Dwarf_Die* die, unsigned int name) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

std::string NameWithin(Dwarf_Die* function, int depth, bool* mangled);

// What is written before the name of the last DIE of `path`: "shapes::Layer::". Of functions around it the innermost
// tells all about those further out.
std::string ScopeName(std::vector<Dwarf_Die>& path, int depth) {
  std::string name;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const char* scope = dwarf_diename(&path[i]);
    const int tag = dwarf_tag(&path[i]);
    if (tag == DW_TAG_subprogram) {
      name.clear();
    } else if (tag == DW_TAG_namespace) {
      // GCC leaves the name out; nvcc makes one of the file's name and a hash.
      const bool anonymous = scope == nullptr || std::string_view(scope).substr(0, 11) == "_GLOBAL__N_";
      name.append(anonymous ? "(anonymous namespace)" : scope).append("::");
    } else if ((IsType(tag) || tag == DW_TAG_module) && scope != nullptr) {
      name.append(scope).append("::");
    }
  }
  // Functions in functions in functions: three is more than code has, and damaged files can have loops.
  constexpr int kMaxFunctionDepth = 3;
  if (depth >= kMaxFunctionDepth) return name;
  for (size_t i = path.size() - 1; i-- > 0;) {
    if (dwarf_tag(&path[i]) != DW_TAG_subprogram) continue;
    bool mangled = false;
    std::string outer = NameWithin(&path[i], depth + 1, &mangled);
    if (mangled) outer = Demangle(outer);
    return outer.empty() ? name : outer.append("::").append(name);
  }
  return name;
}

std::string NameWithin(Dwarf_Die* function, int depth, bool* mangled) {
  *mangled = false;
  for (unsigned int attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* linkage = StringAttribute(function, attribute);
    if (linkage != nullptr && *linkage != '\0') {
      *mangled = true;
      return linkage;
    }
  }
  const char* plain = StringAttribute(function, DW_AT_name);
  if (plain == nullptr) return "";
  Dwarf_Die declaration = Declaration(*function);
  Dwarf_Die unit;
  std::vector<Dwarf_Die> path;
  if (dwarf_diecu(&declaration, &unit, nullptr, nullptr) == nullptr ||
      !PathTo(unit, dwarf_dieoffset(&declaration), 0, path)) {
    return plain;
  }
  return ScopeName(path, depth) + plain;
}

}  // namespace

DieChildren::DieChildren(Dwarf_Die parent) { valid_ = dwarf_child(&parent, &die_) == 0; }

Dwarf_Die* DieChildren::Next() {
  if (!valid_) return nullptr;
  if (first_) {
    first_ = false;
    return &die_;
  }
  const Dwarf_Off offset = dwarf_dieoffset(&die_);
  Dwarf_Die next;
  valid_ = dwarf_siblingof(&die_, &next) == 0 && dwarf_dieoffset(&next) > offset;
  if (!valid_) return nullptr;
  die_ = next;
  return &die_;
}

void ForEachRange(Dwarf_Die* die, const std::function<void(Dwarf_Addr, Dwarf_Addr)>& found) {
  ptrdiff_t offset = 0;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (int i = 0; i < kMaxRanges && (offset = dwarf_ranges(die, offset, &base, &begin, &end)) > 0; ++i) {
    found(begin, end);
  }
}

bool HoldsAddress(Dwarf_Die* die, Dwarf_Addr address) {
  if (dwarf_haspc(die, address) > 0) return true;
  return dwarf_tag(die) == DW_TAG_lexical_block && !dwarf_hasattr(die, DW_AT_low_pc) &&
         !dwarf_hasattr(die, DW_AT_ranges);
}

void ForEachFunction(Dwarf_Die unit, bool in_types_too, const std::function<void(Dwarf_Die*)>& found) {
  Dwarf_Off last = dwarf_dieoffset(&unit);
  VisitFunctions(unit, in_types_too, 0, last, found);
}

std::vector<Dwarf_Die> InlinedFunctionsAt(Dwarf_Die function, Dwarf_Addr address) {
  std::vector<Dwarf_Die> inlined;
  Dwarf_Die scope = function;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    std::optional<Dwarf_Die> inner;
    DieChildren children(scope);
    while (Dwarf_Die* child = children.Next()) {
      const int tag = dwarf_tag(child);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
      // A block without a range is taken only if nothing else fits.
      const bool certain = dwarf_haspc(child, address) > 0;
      if (!certain && (inner || !HoldsAddress(child, address))) continue;
      inner = *child;
      if (certain) break;
    }
    if (!inner) break;
    scope = *inner;
    if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine) inlined.push_back(scope);
  }
  return inlined;
}

std::string FunctionName(Dwarf_Die* function, bool* mangled) { return NameWithin(function, 0, mangled); }

}  // namespace vramtrack
