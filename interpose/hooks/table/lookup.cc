// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/lookup.h"

#include <cstring>

#include "interpose/hooks/table/unseen.h"
#include "interpose/loader/loaded_object.h"

namespace vramtrack {

std::atomic<void*> looked_up[kLookedUpWays][kEntryCount];

namespace {

// Calls that only tell something: missing them costs nothing.
constexpr bool kOnlyTells[] = {
#define VRAMTRACK_NOTES(entry, ...) true,
#define VRAMTRACK_ENTRY(entry, parameters) false,
#include "interpose/hooks/table/api.inc"
};

bool EndsWith(const char* name, size_t length, const char* suffix) {
  const size_t n = strlen(suffix);
  return length > n && strncmp(name + length - n, suffix, n) == 0;
}

// Of a name without its version and without the mark of per-thread default streams: what cuGetProcAddress is asked for.
size_t BaseLength(const char* name) {
  size_t length = strlen(name);
  if (EndsWith(name, length, "_ptsz") || EndsWith(name, length, "_ptds")) length -= 5;
  if (length > 3 && name[length - 3] == '_' && name[length - 2] == 'v' && name[length - 1] >= '0' &&
      name[length - 1] <= '9') {
    length -= 3;
  }
  return length;
}

}  // namespace

void* WrapperFor(void* found, const char* name) {
  if (found == nullptr || name == nullptr || IsOwnAddress(found)) return found;
  // Few hooks have the name in any version; which of them it is, if any, their addresses tell.
  Entry candidates[16];
  size_t count = 0;
  const size_t length = BaseLength(name);
  for (size_t i = 0; i < kEntryCount && count < 16; ++i) {
    const char* hooked = EntryName(static_cast<Entry>(i));
    if (strncmp(hooked, name, length) == 0 && BaseLength(hooked) == length) candidates[count++] = static_cast<Entry>(i);
  }
  if (count == 0) return found;
  const bool worth_noting = !kOnlyTells[static_cast<size_t>(candidates[0])];

  Entry entry = Entry::kCount;
  bool older_form = false;
  LoadedObject library;
  if (FindLoadedObject(found, &library)) {
    for (size_t i = 0; i < count && entry == Entry::kCount; ++i) {
      if (library.Find(EntryName(candidates[i])) == found) entry = candidates[i];
    }
    char base[64];
    if (entry == Entry::kCount && length < sizeof base) {
      memcpy(base, name, length);
      base[length] = '\0';
      older_form = library.Find(base) == found;
    }
  }
  // The form of CUDA 3.1 and before, with 32-bit sizes: runtimes look all of them up.
  if (older_form) return found;
  if (entry == Entry::kCount) {
    // A driver whose addresses are not those of its symbols, or a library of another namespace.
    if (worth_noting) NoteUnseen(name, schema::UNSEEN_LOOKUP);
    return found;
  }
  for (int way = 0; way < kLookedUpWays; ++way) {
    void* expected = nullptr;
    std::atomic<void*>& real = looked_up[way][static_cast<size_t>(entry)];
    if (real.compare_exchange_strong(expected, found) || expected == found) {
      return wrappers[static_cast<size_t>(entry)][1 + way];
    }
  }
  NoteUnseen(EntryName(entry), schema::UNSEEN_THIRD_COPY);
  return found;
}

namespace {

// Which looked-up functions lie in a loaded library.
struct LookedUpSearch {
  uint64_t lowest, highest;  // of the functions
  int64_t first;             // the least load bias of the libraries that are looked at
  bool loaded[kLookedUpWays][kEntryCount];
};

int OnLibraryOfLookedUp(dl_phdr_info* info, size_t, void* data) {
  auto* s = static_cast<LookedUpSearch*>(data);
  if (static_cast<int64_t>(info->dlpi_addr) < s->first || LiesAbove(*info, s->highest)) return 0;
  for (size_t segment = 0; segment < info->dlpi_phnum; ++segment) {
    const ElfW(Phdr)& part = info->dlpi_phdr[segment];
    const uint64_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || begin > s->highest || begin + part.p_memsz <= s->lowest) continue;
    for (int way = 0; way < kLookedUpWays; ++way) {
      for (size_t i = 0; i < kEntryCount; ++i) {
        const auto at = reinterpret_cast<uint64_t>(looked_up[way][i].load(std::memory_order_relaxed));
        s->loaded[way][i] |= at != 0 && at - begin < part.p_memsz;
      }
    }
  }
  return 0;
}

int OnLibraryBelow(dl_phdr_info* info, size_t, void* data) {
  auto* s = static_cast<LookedUpSearch*>(data);
  const auto base = static_cast<int64_t>(info->dlpi_addr);
  if (!LiesAbove(*info, s->lowest) && base > s->first) s->first = base;
  return 0;
}

bool AllLoaded(const LookedUpSearch& search) {
  for (int way = 0; way < kLookedUpWays; ++way) {
    for (size_t i = 0; i < kEntryCount; ++i) {
      if (!search.loaded[way][i] && looked_up[way][i].load(std::memory_order_relaxed) != nullptr) return false;
    }
  }
  return true;
}

}  // namespace

void LookedUpLibrariesChanged() {
  LookedUpSearch search = {UINT64_MAX, 0, INT64_MIN, {}};
  for (const auto& way : looked_up) {
    for (const std::atomic<void*>& real : way) {
      const auto at = reinterpret_cast<uint64_t>(real.load(std::memory_order_relaxed));
      if (at != 0 && at < search.lowest) search.lowest = at;
      if (at > search.highest) search.highest = at;
    }
  }
  if (search.highest == 0) return;
  // Of thousands of libraries only those that lie around the functions; all of them before one is taken for gone.
  dl_iterate_phdr(OnLibraryBelow, &search);
  dl_iterate_phdr(OnLibraryOfLookedUp, &search);
  if (AllLoaded(search)) return;
  search.first = INT64_MIN;
  dl_iterate_phdr(OnLibraryOfLookedUp, &search);
  for (int way = 0; way < kLookedUpWays; ++way) {
    for (size_t i = 0; i < kEntryCount; ++i) {
      if (!search.loaded[way][i]) looked_up[way][i].store(nullptr, std::memory_order_relaxed);
    }
  }
}

}  // namespace vramtrack
