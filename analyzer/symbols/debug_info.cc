// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbols/debug_info.h"

#include <dwarf.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/symbols/die_tree.h"
#include "analyzer/symbols/source_path.h"

namespace vramtrack {

void AddressRanges::Add(uint64_t begin, uint64_t end, uint64_t value) {
  if (begin < end) ranges_.push_back({begin, end, value, end});
}

void AddressRanges::Sort() {
  // Of equal beginnings the search, which runs backwards, must meet the shorter range first, then the first value.
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tie(a.begin, b.end, b.value) < std::tie(b.begin, a.end, a.value);
  });
  uint64_t reach = 0;
  for (Range& range : ranges_) range.reach = reach = std::max(reach, range.end);
  ranges_.shrink_to_fit();
}

std::optional<uint64_t> AddressRanges::Find(uint64_t address) const {
  auto it = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                             [](uint64_t value, const Range& range) { return value < range.begin; });
  // Damaged files can nest ranges without end; whole ones are found at the first steps.
  constexpr int kMaxSteps = 1000;
  for (int step = 0; it != ranges_.begin() && step < kMaxSteps; ++step) {
    --it;
    if (it->reach <= address) return std::nullopt;
    if (it->end > address) return it->value;
  }
  return std::nullopt;
}

namespace {

std::string CompilationDir(Dwarf_Die* unit) {
  Dwarf_Attribute attribute;
  const char* dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  return dir != nullptr ? dir : "";
}

uint64_t UnsignedAttribute(Dwarf_Die* die, unsigned int name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

void AddRanges(Dwarf_Die* die, uint64_t value, AddressRanges& ranges) {
  ForEachRange(die, [&](Dwarf_Addr begin, Dwarf_Addr end) {
    // The linker leaves functions that it dropped at address 0.
    if (begin != 0) ranges.Add(begin, end, value);
  });
}

void ReadFunctions(Dwarf_Die unit, bool in_types_too, AddressRanges& functions) {
  functions = AddressRanges();
  ForEachFunction(unit, in_types_too,
                  [&](Dwarf_Die* function) { AddRanges(function, dwarf_dieoffset(function), functions); });
  functions.Sort();
}

}  // namespace

std::unique_ptr<DebugInfo> DebugInfo::Open(Elf* elf) {
  Dwarf* dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  if (dwarf == nullptr) return nullptr;
  return std::unique_ptr<DebugInfo>(new DebugInfo(dwarf));
}

DebugInfo::~DebugInfo() { dwarf_end(dwarf_); }

void DebugInfo::ReadUnitRanges() {
  unit_ranges_.emplace();
  Dwarf_Off offset = 0;
  Dwarf_Off next = 0;
  size_t header_bytes = 0;
  while (dwarf_nextcu(dwarf_, offset, &next, &header_bytes, nullptr, nullptr, nullptr) == 0 && next > offset) {
    Dwarf_Die unit;
    if (dwarf_offdie(dwarf_, offset + header_bytes, &unit) != nullptr) {
      AddRanges(&unit, offset + header_bytes, *unit_ranges_);
    }
    offset = next;
  }
  unit_ranges_->Sort();
}

std::optional<Dwarf_Die> DebugInfo::UnitDieAt(uint64_t address) {
  Dwarf_Die die;
  if (dwarf_addrdie(dwarf_, address, &die) != nullptr) return die;
  if (!unit_ranges_) ReadUnitRanges();
  std::optional<uint64_t> offset = unit_ranges_->Find(address);
  if (!offset || dwarf_offdie(dwarf_, *offset, &die) == nullptr) return std::nullopt;
  return die;
}

DebugInfo::Unit* DebugInfo::UnitAt(uint64_t address) {
  std::optional<Dwarf_Die> die = UnitDieAt(address);
  if (!die) return nullptr;
  auto [it, is_new] = units_.try_emplace(dwarf_dieoffset(&*die));
  Unit& unit = it->second;
  if (!is_new) return &unit;

  unit.die = unit.code = *die;
  unit.compilation_dir = CompilationDir(&*die);
  FindSplitUnit(unit);
  unit.language = dwarf_srclang(&unit.code);
  ReadFunctions(unit.code, false, unit.functions);
  return &unit;
}

void DebugInfo::FindSplitUnit(Unit& unit) {
  constexpr unsigned kDwoNames[] = {DW_AT_dwo_name, DW_AT_GNU_dwo_name};
  uint8_t type = 0;
  Dwarf_Die split = {};
  if (dwarf_cu_info(unit.die.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) != 0) return;
  if (type != DW_UT_skeleton) return;
  if (dwarf_tag(&split) == DW_TAG_compile_unit) {
    unit.code = split;
    return;
  }
  for (const unsigned name : kDwoNames) {
    Dwarf_Attribute attribute;
    const char* file = dwarf_formstring(dwarf_attr(&unit.die, name, &attribute));
    if (file != nullptr) missing_dwo_files_.insert(SourcePath(file, unit.compilation_dir));
  }
}

std::optional<uint64_t> DebugInfo::FunctionAt(Unit& unit, uint64_t address) {
  std::optional<uint64_t> offset = unit.functions.Find(address);
  if (offset || unit.complete) return offset;
  ReadFunctions(unit.code, true, unit.functions);
  unit.complete = true;
  return unit.functions.Find(address);
}

void DebugInfo::FindLine(Unit& unit, uint64_t address, SourceFunction& function) {
  Dwarf_Die die = unit.die;
  // Line 0 marks code that belongs to no line. The line before it in the same function says more than nothing.
  constexpr int kMaxSteps = 16;
  for (int step = 0; step < kMaxSteps; ++step) {
    Dwarf_Line* line = dwarf_getsrc_die(&die, address);
    if (line == nullptr) return;
    int number = 0;
    const char* file = dwarf_linesrc(line, nullptr, nullptr);
    if (file == nullptr || dwarf_lineno(line, &number) != 0) return;
    if (function.file.empty()) function.file = SourcePath(file, unit.compilation_dir);
    if (number > 0) {
      function.file = SourcePath(file, unit.compilation_dir);
      function.line = static_cast<uint32_t>(number);
      return;
    }
    Dwarf_Addr begin = 0;
    if (dwarf_lineaddr(line, &begin) != 0 || begin == 0) return;
    if (FunctionAt(unit, begin - 1) != FunctionAt(unit, address)) return;
    address = begin - 1;
  }
}

SourceLocation DebugInfo::Find(uint64_t address) {
  SourceLocation location;
  Unit* unit = UnitAt(address);
  if (unit == nullptr) return location;
  location.language = unit->language;

  SourceFunction innermost;
  FindLine(*unit, address, innermost);
  std::optional<uint64_t> offset = FunctionAt(*unit, address);
  Dwarf_Die function;
  if (!offset || dwarf_offdie(dwarf_cu_getdwarf(unit->code.cu), *offset, &function) == nullptr) {
    if (!innermost.file.empty()) location.functions.push_back(std::move(innermost));
    return location;
  }

  // Line and file of an outer function are those of its call of the inner one.
  std::vector<Dwarf_Die> inlined = InlinedFunctionsAt(function, address);
  Dwarf_Files* files = nullptr;
  if (!inlined.empty() && dwarf_getsrcfiles(&unit->code, &files, nullptr) != 0) files = nullptr;
  SourceFunction current = std::move(innermost);
  for (size_t i = inlined.size(); i-- > 0;) {
    current.name = FunctionName(&inlined[i], &current.mangled);
    current.inlined = true;
    location.functions.push_back(std::move(current));
    current = SourceFunction();
    const uint64_t file_index = UnsignedAttribute(&inlined[i], DW_AT_call_file);
    const char* file = files != nullptr ? dwarf_filesrc(files, file_index, nullptr, nullptr) : nullptr;
    if (file != nullptr) current.file = SourcePath(file, unit->compilation_dir);
    current.line = static_cast<uint32_t>(UnsignedAttribute(&inlined[i], DW_AT_call_line));
  }
  current.name = FunctionName(&function, &current.mangled);
  location.functions.push_back(std::move(current));
  return location;
}

}  // namespace vramtrack
