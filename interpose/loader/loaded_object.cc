// SPDX-License-Identifier: Apache-2.0
#include "interpose/loader/loaded_object.h"

#include <elf.h>

#include <cstring>

// Bounds of this library's own image, from the linker.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
}

namespace vramtrack {
namespace {

// Types of relocations.
#if defined(__aarch64__)
constexpr uint64_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobalData = R_AARCH64_GLOB_DAT, kAbsolute = R_AARCH64_ABS64;
#else
constexpr uint64_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobalData = R_X86_64_GLOB_DAT, kAbsolute = R_X86_64_64;
#endif

uint32_t GnuHash(const char* name) {
  uint32_t h = 5381;
  for (; *name != '\0'; ++name) h = h * 33 + static_cast<unsigned char>(*name);
  return h;
}

uint32_t SysvHash(const char* name) {
  uint32_t h = 0;
  for (; *name != '\0'; ++name) {
    h = (h << 4) + static_cast<unsigned char>(*name);
    const uint32_t high = h & 0xf0000000;
    h = (h ^ high >> 24) & ~high;
  }
  return h;
}

const char* LastPart(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

}  // namespace

LoadedObject::LoadedObject(const dl_phdr_info& info)
    : base_(info.dlpi_addr), segments_(info.dlpi_phdr), segment_count_(info.dlpi_phnum) {
  if (info.dlpi_name != nullptr) name_ = LastPart(info.dlpi_name);
  for (size_t i = 0; i < segment_count_; ++i) {
    const ElfW(Phdr)& segment = segments_[i];
    if (segment.p_type == PT_DYNAMIC) dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(base_ + segment.p_vaddr);
    if (segment.p_type == PT_GNU_RELRO) {
      relro_begin_ = base_ + segment.p_vaddr;
      relro_end_ = relro_begin_ + segment.p_memsz;
    }
  }
  if (dynamic_ == nullptr) return;
  // The loader writes run-time addresses into the table, except in the kernel's own library.
  const auto at = [this](uint64_t value) { return value < base_ ? base_ + value : value; };
  uint64_t soname = 0, plt_bytes = 0, rela_bytes = 0;
  bool has_soname = false, plt_is_rela = false;
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    const uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_STRTAB:
        strings_ = reinterpret_cast<const char*>(at(value));
        break;
      case DT_SYMTAB:
        symbols_ = reinterpret_cast<const ElfW(Sym)*>(at(value));
        break;
      case DT_GNU_HASH:
        gnu_hash_ = reinterpret_cast<const uint32_t*>(at(value));
        break;
      case DT_HASH:
        hash_ = reinterpret_cast<const uint32_t*>(at(value));
        break;
      case DT_VERSYM:
        versions_ = reinterpret_cast<const ElfW(Half)*>(at(value));
        break;
      case DT_VERDEF:
        version_definitions_ = reinterpret_cast<const ElfW(Verdef)*>(at(value));
        break;
      case DT_VERDEFNUM:
        version_definition_count_ = value;
        break;
      case DT_SONAME:
        soname = value;
        has_soname = true;
        break;
      case DT_JMPREL:
        relocations_[0].entries = reinterpret_cast<const ElfW(Rela)*>(at(value));
        break;
      case DT_PLTRELSZ:
        plt_bytes = value;
        break;
      case DT_PLTREL:
        plt_is_rela = value == DT_RELA;
        break;
      case DT_RELA:
        relocations_[1].entries = reinterpret_cast<const ElfW(Rela)*>(at(value));
        break;
      case DT_RELASZ:
        rela_bytes = value;
        break;
      default:
        break;
    }
  }
  if (has_soname && strings_ != nullptr) name_ = strings_ + soname;
  if (plt_is_rela && relocations_[0].entries != nullptr) relocations_[0].count = plt_bytes / sizeof(ElfW(Rela));
  if (relocations_[1].entries != nullptr) relocations_[1].count = rela_bytes / sizeof(ElfW(Rela));
}

bool LoadedObject::IsFunctionSlot(const ElfW(Rela) & entry) {
  return ELF64_R_TYPE(entry.r_info) == kJumpSlot || ELF64_R_TYPE(entry.r_info) == kGlobalData;
}

bool LoadedObject::IsAddress(const ElfW(Rela) & entry) {
  return entry.r_addend == 0 && entry.r_offset % sizeof(void*) == 0 && ELF64_R_TYPE(entry.r_info) == kAbsolute;
}

bool LoadedObject::VersionFits(uint32_t index, const char* version) const {
  if (versions_ == nullptr) return true;
  const uint32_t number = versions_[index] & 0x7fff;
  const bool hidden = (versions_[index] & 0x8000) != 0;
  if (number == VER_NDX_LOCAL) return false;
  if (version == nullptr) return !hidden;
  if (number == VER_NDX_GLOBAL) return true;
  const auto* definition = version_definitions_;
  for (size_t i = 0; definition != nullptr && i < version_definition_count_; ++i) {
    if (definition->vd_ndx == number) {
      const auto* name =
          reinterpret_cast<const ElfW(Verdaux)*>(reinterpret_cast<const char*>(definition) + definition->vd_aux);
      return strcmp(strings_ + name->vda_name, version) == 0;
    }
    definition = reinterpret_cast<const ElfW(Verdef)*>(reinterpret_cast<const char*>(definition) + definition->vd_next);
  }
  return false;
}

bool LoadedObject::IsSymbol(uint32_t index, const char* name, const char* version, uint32_t type) const {
  const ElfW(Sym)& symbol = symbols_[index];
  return strcmp(strings_ + symbol.st_name, name) == 0 && symbol.st_shndx != SHN_UNDEF &&
         ELF64_ST_TYPE(symbol.st_info) == type && VersionFits(index, version);
}

void* LoadedObject::Find(const char* name, const char* version) const {
  const ElfW(Sym)* symbol = Symbol(name, version, STT_FUNC);
  return symbol == nullptr ? nullptr : reinterpret_cast<void*>(base_ + symbol->st_value);
}

void* LoadedObject::FindVariable(const char* name) const {
  const ElfW(Sym)* symbol = Symbol(name, nullptr, STT_OBJECT);
  return symbol == nullptr ? nullptr : reinterpret_cast<void*>(base_ + symbol->st_value);
}

uint64_t LoadedObject::SizeOf(const char* name) const {
  const ElfW(Sym)* symbol = Symbol(name, nullptr, STT_FUNC);
  if (symbol == nullptr) symbol = Symbol(name, nullptr, STT_OBJECT);
  return symbol == nullptr ? 0 : symbol->st_size;
}

const ElfW(Sym) * LoadedObject::Symbol(const char* name, const char* version, uint32_t type) const {
  if (symbols_ == nullptr || strings_ == nullptr) return nullptr;
  if (gnu_hash_ != nullptr) {
    const uint32_t bucket_count = gnu_hash_[0], first = gnu_hash_[1], bloom_words = gnu_hash_[2];
    const uint32_t bloom_shift = gnu_hash_[3];
    if (bucket_count == 0 || bloom_words == 0) return nullptr;
    const auto* bloom = reinterpret_cast<const uint64_t*>(gnu_hash_ + 4);
    const auto* buckets = reinterpret_cast<const uint32_t*>(bloom + bloom_words);
    const uint32_t* chain = buckets + bucket_count;
    const uint32_t h = GnuHash(name);
    const uint64_t word = bloom[h / 64 % bloom_words];
    if ((word >> h % 64 & word >> (h >> bloom_shift) % 64 & 1) == 0) return nullptr;
    uint32_t index = buckets[h % bucket_count];
    if (index < first) return nullptr;
    for (;; ++index) {
      const uint32_t entry = chain[index - first];
      if ((entry | 1) == (h | 1)) {
        if (IsSymbol(index, name, version, type)) return symbols_ + index;
      }
      if ((entry & 1) != 0) return nullptr;
    }
  }
  if (hash_ == nullptr || hash_[0] == 0) return nullptr;
  const uint32_t bucket_count = hash_[0];
  const uint32_t* buckets = hash_ + 2;
  const uint32_t* chain = buckets + bucket_count;
  for (uint32_t index = buckets[SysvHash(name) % bucket_count]; index != STN_UNDEF; index = chain[index]) {
    if (IsSymbol(index, name, version, type)) return symbols_ + index;
  }
  return nullptr;
}

bool LoadedObject::Contains(const void* address) const {
  uint64_t begin, bytes;
  return SegmentOf(address, &begin, &bytes);
}

bool LoadedObject::SegmentOf(const void* address, uint64_t* begin, uint64_t* bytes) const {
  const uint64_t at = reinterpret_cast<uint64_t>(address) - base_;
  for (size_t i = 0; i < segment_count_; ++i) {
    const ElfW(Phdr)& segment = segments_[i];
    if (segment.p_type != PT_LOAD || at - segment.p_vaddr >= segment.p_memsz) continue;
    *begin = base_ + segment.p_vaddr;
    *bytes = segment.p_memsz;
    return true;
  }
  return false;
}

bool LoadedObject::Needs(const char* soname) const {
  for (const ElfW(Dyn)* entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && strcmp(strings_ + entry->d_un.d_val, soname) == 0) return true;
  }
  return false;
}

VisitedObjects LoaderCounts(const VisitedObjects& visited) {
  VisitedObjects now = {};
  EachLoaderEntry([&](const dl_phdr_info& info) {
    now = {info.dlpi_adds, info.dlpi_subs, now.count + 1};
    return now.loaded != visited.loaded && now.unloaded != visited.unloaded;
  });
  return now;
}

// New ones are at the end, and there are no more of them than were loaded. Those of other namespaces are counted, too.
size_t StillCovered(const VisitedObjects& visited, const VisitedObjects& now) {
  if (visited.loaded == now.loaded) return SIZE_MAX;
  if (visited.unloaded == now.unloaded) return visited.count;
  const uint64_t new_ones = now.loaded - visited.loaded;
  return now.count > new_ones ? now.count - new_ones : 0;
}

LoadedObject Program() {
  LoadedObject program;
  EachLoadedObject([&program](const LoadedObject& first) {
    program = first;
    return false;
  });
  return program;
}

// Reads the tables of the one that it is, not of all: there may be thousands.
bool FindLoadedObject(const void* address, LoadedObject* object) {
  const auto at = reinterpret_cast<uint64_t>(address);
  return EachLoaderEntry([&](const dl_phdr_info& info) {
    if (LiesAbove(info, at)) return true;
    for (size_t i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info.dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || at - info.dlpi_addr - segment.p_vaddr >= segment.p_memsz) continue;
      *object = LoadedObject(info);
      return false;
    }
    return true;
  });
}

bool IsOwnObject(const LoadedObject& object) { return object.Contains(__ehdr_start); }

bool IsOwnAddress(const void* address) {
  const auto* at = static_cast<const char*>(address);
  return at >= __ehdr_start && at < _end;
}

}  // namespace vramtrack
