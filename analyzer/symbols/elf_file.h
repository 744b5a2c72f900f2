// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SYMBOLS_ELF_FILE_H_
#define ANALYZER_SYMBOLS_ELF_FILE_H_

#include <libelf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/mapped_range.h"

namespace vramtrack {

// An ELF file on disk. It is mapped, and only the parts in use are read. Thread-compatible.
class ElfFile {
 public:
  // Opens a file. Returns null if `path` is not a regular file, cannot be read, or is not an ELF file.
  static std::unique_ptr<ElfFile> Open(const std::string& path);

  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& path() const { return path_; }
  // Returns the build id in lower-case hex; empty if the file has none.
  const std::string& build_id() const { return build_id_; }
  // Returns the hash of its loaded segments, see proto/text_hash.h. Reads parts of its code.
  uint64_t TextHashOfFile() const;
  // Returns the file name in .gnu_debuglink; empty if there is none.
  const std::string& debug_link() const { return debug_link_; }
  uint32_t debug_link_crc() const { return debug_link_crc_; }
  // Returns whether the file has DWARF with functions and lines, as opposed to unwind tables only.
  bool has_debug_info() const { return has_debug_info_; }
  // Returns whether `address` is in a code section. For functions that the linker dropped, DWARF has lines at other
  // addresses.
  bool IsCode(uint64_t address) const;
  Elf* elf() const { return elf_; }

 private:
  ElfFile(std::string path, int fd, Elf* elf);
  void ReadSections();

  const std::string path_;
  const int fd_;
  Elf* const elf_;
  std::string build_id_;
  std::string debug_link_;
  uint32_t debug_link_crc_ = 0;
  bool has_debug_info_ = false;
  std::vector<std::pair<uint64_t, uint64_t>> code_;  // {begin, end}
  MappedRange range_;
};

// Returns `bytes` as lower-case hex digits.
std::string BuildIdToHex(std::string_view bytes);

// Returns the lower-case hex of a build id that is given raw or as hex digits; empty for an empty one.
std::string NormalizedBuildId(std::string_view raw_or_hex);

// Returns the path of the debug file of `hex` in a .build-id folder, "ab/cdef….debug"; empty for ids of less than two
// bytes.
std::string BuildIdDebugPath(std::string_view hex);

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

#endif  // ANALYZER_SYMBOLS_ELF_FILE_H_
