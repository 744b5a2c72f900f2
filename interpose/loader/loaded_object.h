// SPDX-License-Identifier: Apache-2.0
//
// A library in memory: its exports and imports, read from its own tables. The functions of the loader give the same
// answers, but dlsym takes a lock that a constructor of a library may hold while it waits for this library.
#ifndef INTERPOSE_LOADER_LOADED_OBJECT_H_
#define INTERPOSE_LOADER_LOADED_OBJECT_H_

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace vramtrack {

// Valid while the library is loaded. Allocates no memory and takes no lock. Thread-safe.
class LoadedObject {
 public:
  LoadedObject() = default;
  explicit LoadedObject(const dl_phdr_info& info);

  // Returns the address of an exported function, or null. With `version`, finds the function of that version or an
  // unversioned one; with null, the default version.
  void* Find(const char* name, const char* version = nullptr) const;

  // FindVariable does the same for a variable. SizeOf returns the size in bytes that the symbol table has for an
  // exported function or variable, or 0.
  void* FindVariable(const char* name) const;
  uint64_t SizeOf(const char* name) const;

  bool Contains(const void* address) const;
  // Finds the loaded segment that contains the address. Returns false if there is none.
  bool SegmentOf(const void* address, uint64_t* begin, uint64_t* bytes) const;
  // Returns the soname of the library, or the last part of its path if it has none.
  const char* name() const { return name_; }
  uint64_t base() const { return base_; }
  // Returns whether the library names `soname` among the libraries that it needs (DT_NEEDED).
  bool Needs(const char* soname) const;

  // Calls `visit(name, slot)` for every imported function. `slot` holds the address that the library calls; before the
  // first call that may be a stub in the library itself.
  template <typename Visit>
  void EachImport(Visit visit) const {
    EachSlot(IsFunctionSlot, visit);
  }

  // Calls `visit(name, slot)` for every aligned word of the library's data that the loader set to the address of an
  // imported symbol: a table of functions, on aarch64 any function whose address the code takes. The library may have
  // changed the word since.
  template <typename Visit>
  void EachImportedAddress(Visit visit) const {
    EachSlot(IsAddress, visit);
  }

  // The range that the loader makes read-only after relocation (RELRO); [0, 0) for none.
  uint64_t relro_begin() const { return relro_begin_; }
  uint64_t relro_end() const { return relro_end_; }

 private:
  struct Relocations {
    const ElfW(Rela) * entries;
    size_t count;
  };

  static bool IsFunctionSlot(const ElfW(Rela) & entry);
  static bool IsAddress(const ElfW(Rela) & entry);
  template <typename Visit>
  void EachSlot(bool (*wanted)(const ElfW(Rela) & entry), Visit visit) const {
    for (const Relocations& table : relocations_) {
      for (size_t i = 0; i < table.count; ++i) {
        const ElfW(Rela)& entry = table.entries[i];
        const uint64_t symbol = ELF64_R_SYM(entry.r_info);
        if (symbol == 0 || symbols_ == nullptr || symbols_[symbol].st_shndx != SHN_UNDEF || !wanted(entry)) continue;
        visit(strings_ + symbols_[symbol].st_name, reinterpret_cast<void**>(base_ + entry.r_offset));
      }
    }
  }
  // Returns the entry of the symbol table, or null.
  const ElfW(Sym) * Symbol(const char* name, const char* version, uint32_t type) const;
  bool IsSymbol(uint32_t index, const char* name, const char* version, uint32_t type) const;
  bool VersionFits(uint32_t index, const char* version) const;

  uint64_t base_ = 0;
  const ElfW(Phdr) * segments_ = nullptr;
  size_t segment_count_ = 0;
  const char* name_ = "";
  const char* strings_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
  const uint32_t* hash_ = nullptr;
  const ElfW(Half) * versions_ = nullptr;
  const ElfW(Verdef) * version_definitions_ = nullptr;
  size_t version_definition_count_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
  Relocations relocations_[2] = {};
  uint64_t relro_begin_ = 0, relro_end_ = 0;
};

// Calls `visit(info)` for every entry of the loader's list in its order, the program first, until it returns false.
// Returns whether it did. Holds the loader's lock of the list; `visit` must not load libraries.
template <typename Visit>
bool EachLoaderEntry(Visit visit) {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void* data) { return (*static_cast<Visit*>(data))(*info) ? 0 : 1; },
             &visit) != 0;
}

// The same with `visit(object)`, which reads the tables of each library.
template <typename Visit>
bool EachLoadedObject(Visit visit) {
  return EachLoaderEntry([&](const dl_phdr_info& info) { return visit(LoadedObject(info)); });
}

// Returns whether an object is loaded entirely above an address. It does not read the tables of the object: with
// thousands of objects, each read would be a cache miss. The comparison is signed, because a library that was linked
// for a high address may have a negative load bias.
inline bool LiesAbove(const dl_phdr_info& info, uint64_t address) {
  return static_cast<int64_t>(info.dlpi_addr) > static_cast<int64_t>(address);
}

// A position in the loader's list, to which the loader appends. A zero-initialised one is before the first object.
struct VisitedObjects {
  uint64_t loaded, unloaded;  // the loader's counters at that time
  size_t count;
};

// Returns the loader's counters. `count` is the length of the loader's list, but only if objects were both loaded and
// unloaded since `visited`.
VisitedObjects LoaderCounts(const VisitedObjects& visited);

// Returns how many objects at the beginning of the list `visited` covers; SIZE_MAX for all.
size_t StillCovered(const VisitedObjects& visited, const VisitedObjects& now);

// The state of the objects that were visited before.
enum class Earlier {
  kAllRemain,
  kSomeRemain,  // those for which `remains` was called
  kForgotten,   // unknown: all objects are visited as new ones
};

// Visits the loaded objects in the loader's order and calls
//   remains(base) for each object that `visited` covers, if something was unloaded since;
//   begin(earlier) once, before the first object that `visited` does not cover, even if there is none;
//   visit(object) for each object that `visited` does not cover.
// Afterwards `visited` covers all objects. Returns false, without any call, if the list changes during every attempt.
template <typename Remains, typename Begin, typename Visit>
bool EachNewObject(VisitedObjects* visited, Remains remains, Begin begin, Visit visit) {
  constexpr int kTries = 8;
  for (int tries = 0; tries < kTries; ++tries) {
    const VisitedObjects now = LoaderCounts(*visited);
    const size_t covered = StillCovered(*visited, now);
    const Earlier earlier = covered == 0                        ? Earlier::kForgotten
                            : visited->unloaded != now.unloaded ? Earlier::kSomeRemain
                                                                : Earlier::kAllRemain;
    size_t index = 0;
    bool begun = false;
    const bool changed = EachLoaderEntry([&](const dl_phdr_info& info) {
      // The list is locked during the iteration, so its first entry shows the counters for all.
      if (info.dlpi_adds != now.loaded || info.dlpi_subs != now.unloaded) return false;
      if (index++ < covered) {
        if (earlier == Earlier::kSomeRemain) remains(info.dlpi_addr);
        return true;
      }
      if (!begun) begin(earlier);
      begun = true;
      visit(LoadedObject(info));
      return true;
    });
    if (changed) continue;
    if (!begun) begin(earlier);
    *visited = {now.loaded, now.unloaded, index};
    return true;
  }
  return false;
}

// The same without the callbacks about earlier objects.
template <typename Visit>
bool EachNewObject(VisitedObjects* visited, Visit visit) {
  return EachNewObject(
      visited, [](uint64_t) {}, [](Earlier) {}, visit);
}

// Returns the program itself, which is the first object.
LoadedObject Program();

// Finds the loaded library that contains the address. Returns false if there is none.
bool FindLoadedObject(const void* address, LoadedObject* object);

// Returns whether the address, or the object, belongs to this library.
bool IsOwnAddress(const void* address);
bool IsOwnObject(const LoadedObject& object);

}  // namespace vramtrack

#endif  // INTERPOSE_LOADER_LOADED_OBJECT_H_
