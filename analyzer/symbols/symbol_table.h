// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_SYMBOL_TABLE_H_
#define ANALYZER_SYMBOLS_SYMBOL_TABLE_H_

#include <libelf.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace vramtrack {

// The functions in the .symtab and .dynsym of an ELF file, by address. Names point into the file. Thread-compatible.
class SymbolTable {
 public:
  // `elf` must outlive the table.
  explicit SymbolTable(Elf* elf);

  bool empty() const { return symbols_.empty(); }
  // Returns the mangled name of the function that contains `address`; empty if there is none. If a function has several
  // names, the choice does not depend on their order in the file.
  std::string_view NameOf(uint64_t address) const;

 private:
  struct Symbol {
    uint64_t begin;
    // One past the last byte; for a label without a size, the end of its section or the next symbol.
    uint64_t end;
    // The highest end of this and all previous functions.
    uint64_t reach;
    const char* name;
    uint8_t rank;  // lower is better
  };

  void Read(Elf* elf, Elf_Scn* section);
  void Sort();

  std::vector<Symbol> symbols_;
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_SYMBOL_TABLE_H_
