// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbols/elf_file.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "absl/status/statusor.h"
#include "analyzer/base/input_file.h"

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

namespace {

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

char ToLower(char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string BuildIdToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (unsigned char byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::string NormalizedBuildId(std::string_view raw_or_hex) {
  // Raw ids have 8 bytes or more (usually 20), so that all of them are hex digits by chance does not happen.
  if (raw_or_hex.size() % 2 != 0 || !std::all_of(raw_or_hex.begin(), raw_or_hex.end(), IsHexDigit)) {
    return BuildIdToHex(raw_or_hex);
  }
  std::string hex(raw_or_hex);
  std::transform(hex.begin(), hex.end(), hex.begin(), ToLower);
  return hex;
}

std::string BuildIdDebugPath(std::string_view hex) {
  if (hex.size() < 4) return "";
  std::string path(hex.substr(0, 2));
  path.append("/").append(hex.substr(2)).append(".debug");
  return path;
}

}  // namespace vramtrack
