// SPDX-License-Identifier: Apache-2.0
//
// A library as it lies in memory: what it defines and what it asks others for, read from its own tables. The loader's
// functions would do the same, but dlsym takes a lock that a library's constructor may hold while it waits for us.
#ifndef INTERPOSE_LOADER_LOADED_OBJECT_H_
#define INTERPOSE_LOADER_LOADED_OBJECT_H_

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace vramtrack {

// Valid as long as the library is loaded. Allocates nothing and takes no lock. Thread-safe.
class LoadedObject {
 public:
  LoadedObject() = default;
  explicit LoadedObject(const dl_phdr_info& info);

  // Where a function of this name is that the library exports, or null. `version`: that one, or an unversioned
  // function; null: the default version.
  void* Find(const char* name, const char* version = nullptr) const;

  // The same for a variable; and how many bytes its table says that what Find or FindVariable gave has.
  void* FindVariable(const char* name) const;
  uint64_t SizeOf(const char* name) const;

  bool Contains(const void* address) const;
  // The part of it that the address lies in. False for none.
  bool SegmentOf(const void* address, uint64_t* begin, uint64_t* bytes) const;
  // The library's own name for itself, or the last part of its path.
  const char* name() const { return name_; }
  uint64_t base() const { return base_; }
  // Whether it asks the loader for a library of that name.
  bool Needs(const char* soname) const;

  // Calls `visit(name, slot)` for every function that it imports; `slot` holds the address it calls, or, as long as it
  // has not called it, that of its own stub.
  template <typename Visit>
  void EachImport(Visit visit) const {
    for (const Relocations& table : relocations_) {
      for (size_t i = 0; i < table.count; ++i) {
        const ElfW(Rela)& entry = table.entries[i];
        if (!IsFunctionSlot(static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info)))) continue;
        const uint64_t symbol = ELF64_R_SYM(entry.r_info);
        if (symbol == 0 || symbols_ == nullptr || symbols_[symbol].st_shndx != SHN_UNDEF) continue;
        visit(strings_ + symbols_[symbol].st_name, reinterpret_cast<void**>(base_ + entry.r_offset));
      }
    }
  }

  // The pages that the loader made read-only after it had bound them; [0, 0) for none.
  uint64_t relro_begin() const { return relro_begin_; }
  uint64_t relro_end() const { return relro_end_; }

 private:
  struct Relocations {
    const ElfW(Rela) * entries;
    size_t count;
  };

  static bool IsFunctionSlot(uint32_t type);
  // The entry of the symbol table, or null.
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

// Calls `visit(object, index)` for every loaded library in the loader's order, the program first, until it returns
// false. Takes the loader's short lock for its list; `visit` must not load libraries.
template <typename Visit>
void EachLoadedObject(Visit visit) {
  struct State {
    Visit* visit;
    size_t index;
  } state = {&visit, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* s = static_cast<State*>(data);
        return (*s->visit)(LoadedObject(*info), s->index++) ? 0 : 1;
      },
      &state);
}

// Whether an object lies above an address as a whole. Its tables are not read: of thousands of objects each would be a
// cache miss. Signed, because a library that was linked for a high address may have a negative load bias.
inline bool LiesAbove(const dl_phdr_info& info, uint64_t address) {
  return static_cast<int64_t>(info.dlpi_addr) > static_cast<int64_t>(address);
}

// How far somebody has been through the loader's list, which it adds to at the end. Zero-initialised: not at all.
struct VisitedObjects {
  uint64_t loaded, unloaded;  // the loader's counters at the time
  size_t count;
};

// The loader's counters, and how long its list is where something was both loaded and unloaded since `visited`.
VisitedObjects LoaderCounts(const VisitedObjects& visited);

// How many at the beginning of the list `visited` covers.
size_t StillCovered(const VisitedObjects& visited, const VisitedObjects& now);

// What became of the objects that were visited before.
enum class Earlier {
  kAllRemain,
  kSomeRemain,  // those that were named
  kForgotten,   // all objects are visited as new ones
};

// Goes through the loaded objects in the loader's order and calls
//   remains(base) for those that `visited` covers, where something was unloaded since;
//   begin(earlier) once, before the first one that it does not cover, also if there is none;
//   visit(object) for each of these.
// Then `visited` covers all of them. False, with nothing called, where libraries come and go all the time.
template <typename Remains, typename Begin, typename Visit>
bool EachNewObject(VisitedObjects* visited, Remains remains, Begin begin, Visit visit) {
  constexpr int kTries = 8;
  struct State {
    Remains* remains;
    Begin* begin;
    Visit* visit;
    VisitedObjects now;
    size_t covered, index;
    Earlier earlier;
    bool begun, changed;
  };
  for (int tries = 0; tries < kTries; ++tries) {
    const VisitedObjects now = LoaderCounts(*visited);
    const size_t covered = StillCovered(*visited, now);
    const Earlier earlier = covered == 0                        ? Earlier::kForgotten
                            : visited->unloaded != now.unloaded ? Earlier::kSomeRemain
                                                                : Earlier::kAllRemain;
    State state = {&remains, &begin, &visit, now, covered, 0, earlier, false, false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
          auto* s = static_cast<State*>(data);
          // The list is locked as long as this goes on, so this is known at its beginning.
          s->changed = info->dlpi_adds != s->now.loaded || info->dlpi_subs != s->now.unloaded;
          if (s->changed) return 1;
          if (s->index++ < s->covered) {
            if (s->earlier == Earlier::kSomeRemain) (*s->remains)(info->dlpi_addr);
            return 0;
          }
          if (!s->begun) (*s->begin)(s->earlier);
          s->begun = true;
          (*s->visit)(LoadedObject(*info));
          return 0;
        },
        &state);
    if (state.changed) continue;
    if (!state.begun) begin(earlier);
    *visited = {now.loaded, now.unloaded, state.index};
    return true;
  }
  return false;
}

// For who does not care what became of the others.
template <typename Visit>
bool EachNewObject(VisitedObjects* visited, Visit visit) {
  return EachNewObject(
      visited, [](uint64_t) {}, [](Earlier) {}, visit);
}

// The loaded library that the address lies in. False for none.
bool FindLoadedObject(const void* address, LoadedObject* object);

// Whether the address, or the object, is this library's.
bool IsOwnAddress(const void* address);
bool IsOwnObject(const LoadedObject& object);

}  // namespace vramtrack

#endif  // INTERPOSE_LOADER_LOADED_OBJECT_H_
