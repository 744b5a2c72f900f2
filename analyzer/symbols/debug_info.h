// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SYMBOLS_DEBUG_INFO_H_
#define ANALYZER_SYMBOLS_DEBUG_INFO_H_

#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace vramtrack {

// Maps ranges of addresses to values. Ranges are half-open and should not overlap. Thread-compatible.
class AddressRanges {
 public:
  void Add(uint64_t begin, uint64_t end, uint64_t value);
  // Must be called after the last Add() and before the first Find().
  void Sort();
  // Returns the value of the range that contains `address`. If ranges overlap, the one that begins last counts.
  std::optional<uint64_t> Find(uint64_t address) const;

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
    uint64_t value;
    // The highest end of this and all previous ranges.
    uint64_t reach;
  };
  std::vector<Range> ranges_;
};

// One function at an address, according to DWARF.
struct SourceFunction {
  // The mangled name if there is one, otherwise the qualified name; empty if DWARF has no name.
  std::string name;
  bool mangled = false;
  std::string file;
  uint32_t line = 0;
  bool inlined = false;
};

// The DWARF information about one address.
struct SourceLocation {
  // Innermost first; the last one is not inlined. Without a function, one entry with file and line only.
  std::vector<SourceFunction> functions;
  // A DW_LANG_* constant; 0 if unknown.
  int language = 0;
};

// The DWARF of one ELF file. Reads only the compilation units that contain looked-up addresses, each once. Memory is
// bounded by these units. Thread-compatible.
class DebugInfo {
 public:
  // Returns null if `elf` has no readable DWARF. `elf` must outlive the result.
  static std::unique_ptr<DebugInfo> Open(Elf* elf);

  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  // Returns the source location of `address`. It has no functions if no compilation unit contains the address.
  SourceLocation Find(uint64_t address);

  // Returns how many compilation units were read so far.
  size_t units_read() const { return units_.size(); }

  // Returns the .dwo files that compilation units with looked-up addresses name, and that were not found. The lines of
  // their code are known, its inlined functions are not.
  const std::set<std::string>& missing_dwo_files() const { return missing_dwo_files_; }

 private:
  struct Unit {
    Dwarf_Die die;
    Dwarf_Die code;  // the tree of the functions: of a .dwo file, or `die`
    std::string compilation_dir;
    int language = 0;
    // Offsets of the DIEs of functions with code.
    AddressRanges functions;
    // Types were searched for functions, too.
    bool complete = false;
  };

  // Finds the .dwo file of a unit that has one.
  void FindSplitUnit(Unit& unit);

  explicit DebugInfo(Dwarf* dwarf) : dwarf_(dwarf) {}

  Unit* UnitAt(uint64_t address);
  std::optional<Dwarf_Die> UnitDieAt(uint64_t address);
  void ReadUnitRanges();
  std::optional<uint64_t> FunctionAt(Unit& unit, uint64_t address);
  void FindLine(Unit& unit, uint64_t address, SourceFunction& function);

  Dwarf* const dwarf_;
  std::map<Dwarf_Off, Unit> units_;
  std::set<std::string> missing_dwo_files_;
  // The ranges of all units. They are read when .debug_aranges lacks an address, because Clang does not write it.
  std::optional<AddressRanges> unit_ranges_;
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_DEBUG_INFO_H_
