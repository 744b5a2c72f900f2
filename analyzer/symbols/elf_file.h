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

// An ELF file on disk, mapped and read only where it is looked at. Thread-compatible.
class ElfFile {
 public:
  // Null if `path` is no regular file, cannot be read, or is not ELF.
  static std::unique_ptr<ElfFile> Open(const std::string& path);

  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& path() const { return path_; }
  // Lower-case hex; empty if the file has none.
  const std::string& build_id() const { return build_id_; }
  // What .gnu_debuglink names; empty without one.
  const std::string& debug_link() const { return debug_link_; }
  uint32_t debug_link_crc() const { return debug_link_crc_; }
  // Whether there is DWARF with functions and lines, as opposed to unwind tables only.
  bool has_debug_info() const { return has_debug_info_; }
  // Whether `address` is in a section of code. Of functions that the linker dropped, DWARF has lines at other
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

// The lower-case hex digits of `bytes`.
std::string BuildIdToHex(std::string_view bytes);

// Lower-case hex of a build id given raw or as hex digits; empty stays empty.
std::string NormalizedBuildId(std::string_view raw_or_hex);

// "ab/cdef….debug": the path of the debug file of `hex` in a .build-id folder. Empty for ids of less than two bytes.
std::string BuildIdDebugPath(std::string_view hex);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_ELF_FILE_H_
