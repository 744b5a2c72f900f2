// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "analyzer/base/input_file.h"
#include "proto/text_hash.h"

namespace vramtrack {

std::unique_ptr<ElfFile> ElfFile::Open(const std::string& path) {
  // A recorded path may name anything.
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return nullptr;
  const int fd = file->Release();
  if (elf_version(EV_CURRENT) == EV_NONE) {
    close(fd);
    return nullptr;
  }
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF) {
    if (elf != nullptr) elf_end(elf);
    close(fd);
    return nullptr;
  }
  return std::unique_ptr<ElfFile>(new ElfFile(path, fd, elf));
}

ElfFile::ElfFile(std::string path, int fd, Elf* elf) : path_(std::move(path)), fd_(fd), elf_(elf) {
  size_t bytes = 0;
  if (const char* begin = elf_rawfile(elf_, &bytes)) range_ = MappedRange(begin, bytes, path_);
  const void* id = nullptr;
  ssize_t id_bytes = dwelf_elf_gnu_build_id(elf_, &id);
  if (id_bytes > 0) build_id_ = BuildIdToHex({static_cast<const char*>(id), static_cast<size_t>(id_bytes)});
  GElf_Word crc = 0;
  if (const char* link = dwelf_elf_gnu_debuglink(elf_, &crc); link != nullptr) {
    debug_link_ = link;
    debug_link_crc_ = crc;
  }
  ReadSections();
}

void ElfFile::ReadSections() {
  size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_size == 0) continue;
    if ((header.sh_flags & SHF_ALLOC) != 0 && (header.sh_flags & SHF_EXECINSTR) != 0) {
      code_.emplace_back(header.sh_addr, header.sh_addr + header.sh_size);
    }
    const char* name = elf_strptr(elf_, names, header.sh_name);
    if (name == nullptr || header.sh_type == SHT_NOBITS) continue;
    const std::string_view view(name);
    has_debug_info_ |= view == ".debug_info" || view == ".zdebug_info";
  }
}

uint64_t ElfFile::TextHashOfFile() const {
  size_t segments = 0, bytes = 0;
  const char* const begin = elf_rawfile(elf_, &bytes);
  TextHash hash;
  if (begin == nullptr || elf_getphdrnum(elf_, &segments) != 0) return hash.value();
  for (size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_LOAD) continue;
    hash.AddSegment(segment.p_vaddr, segment.p_filesz, segment.p_memsz, segment.p_flags);
    if ((segment.p_flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_X)) continue;
    if (segment.p_offset > bytes || segment.p_filesz > bytes - segment.p_offset) continue;
    hash.AddText(begin + segment.p_offset, segment.p_filesz);
  }
  return hash.value();
}

bool ElfFile::IsCode(uint64_t address) const {
  for (const auto& [begin, end] : code_) {
    if (address >= begin && address < end) return true;
  }
  return false;
}

ElfFile::~ElfFile() {
  elf_end(elf_);
  close(fd_);
}

std::string BuildIdToHex(std::string_view bytes) { return absl::BytesToHexString({bytes.data(), bytes.size()}); }

std::string NormalizedBuildId(std::string_view raw_or_hex) {
  // Raw ids have 8 bytes or more (usually 20), so that all of them are hex digits by chance does not happen.
  if (raw_or_hex.size() % 2 != 0 || !std::all_of(raw_or_hex.begin(), raw_or_hex.end(), absl::ascii_isxdigit)) {
    return BuildIdToHex(raw_or_hex);
  }
  return absl::AsciiStrToLower({raw_or_hex.data(), raw_or_hex.size()});
}

std::string BuildIdDebugPath(std::string_view hex) {
  if (hex.size() < 4) return "";
  std::string path(hex.substr(0, 2));
  path.append("/").append(hex.substr(2)).append(".debug");
  return path;
}

namespace {

// A global name says more than a weak alias, and that more than a local one; assembly labels without a size say least.
uint8_t Rank(const GElf_Sym& symbol) {
  uint8_t rank = symbol.st_size == 0 ? 4 : 0;
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
      return rank;
    case STB_WEAK:
      return rank + 1;
    default:
      return rank + 2;
  }
}

uint64_t SectionEnd(Elf* elf, const GElf_Sym& symbol) {
  GElf_Shdr header;
  Elf_Scn* section = symbol.st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol.st_shndx) : nullptr;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return symbol.st_value + 1;
  uint64_t end = header.sh_addr + header.sh_size;
  return end > symbol.st_value ? end : symbol.st_value + 1;
}

}  // namespace

SymbolTable::SymbolTable(Elf* elf) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    Read(elf, section);
  }
  Sort();
}

void SymbolTable::Read(Elf* elf, Elf_Scn* section) {
  GElf_Shdr header;
  if (gelf_getshdr(section, &header) == nullptr) return;
  if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) return;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return;
  const size_t entry_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
  if (entry_bytes == 0) return;
  const size_t count = std::min<size_t>(data->d_size / entry_bytes, INT32_MAX);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || symbol.st_value == 0) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    uint64_t end = symbol.st_size == 0 ? SectionEnd(elf, symbol) : symbol.st_value + symbol.st_size;
    if (end <= symbol.st_value) continue;
    symbols_.push_back({symbol.st_value, end, end, name, Rank(symbol)});
  }
}

void SymbolTable::Sort() {
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    // The better name comes later: the search runs backwards.
    if (a.rank != b.rank) return a.rank > b.rank;
    return std::strcmp(a.name, b.name) > 0;
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& a, const Symbol& b) {
                               return a.begin == b.begin && a.end == b.end && std::strcmp(a.name, b.name) == 0;
                             }),
                 symbols_.end());
  uint64_t next_begin = UINT64_MAX;
  for (size_t i = symbols_.size(); i-- > 0;) {
    if (i + 1 < symbols_.size() && symbols_[i + 1].begin > symbols_[i].begin) next_begin = symbols_[i + 1].begin;
    if (symbols_[i].rank >= 4) symbols_[i].end = std::min(symbols_[i].end, next_begin);
  }
  uint64_t reach = 0;
  for (Symbol& symbol : symbols_) symbol.reach = reach = std::max(reach, symbol.end);
  symbols_.shrink_to_fit();
}

std::string_view SymbolTable::NameOf(uint64_t address) const {
  auto it = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                             [](uint64_t value, const Symbol& symbol) { return value < symbol.begin; });
  // Functions rarely nest, so the first step back nearly always decides; the bound keeps a damaged table cheap.
  constexpr int kMaxSteps = 1000;
  for (int step = 0; it != symbols_.begin() && step < kMaxSteps; ++step) {
    --it;
    if (it->reach <= address) return {};
    if (it->end > address) return it->name;
  }
  return {};
}

}  // namespace vramtrack
