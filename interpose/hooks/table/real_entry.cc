// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/real_entry.h"

#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "interpose/base/spin_lock.h"
#include "interpose/hooks/table/unseen.h"
#include "interpose/loader/loaded_object.h"

namespace vramtrack {

Providers::CallSite Providers::call_sites_[kCallSites];
std::atomic<uint32_t> Providers::unloading_, Providers::unloads_;

namespace {

// A library that exports a function, and whether it comes after ours.
struct Exporter {
  void* function;
  uint64_t base;
  const char* library;
  bool behind_us;
};

// All that export one function, kept from call to call: of thousands of libraries only those are looked at that are
// new.
struct Exporters {
  static constexpr size_t kMax = 4;
  VisitedObjects visited;
  size_t count;  // more than kMax: not all of them are here
  bool behind_us;
  Exporter all[kMax];

  bool Update(Entry entry);
};

// Picks from exporters in the loader's order, in the order of the contract of Providers::Real:
//   a library behind ours that is not CUDA's own: another tool that was preloaded, which calls the next one itself;
//   the library that the caller names among those it needs;
//   the first one.
// A framework's functions are nobody else's, and its library stands anywhere: the first rule is not for them.
class Choice {
 public:
  Choice(Entry entry, const void* caller)
      : of_framework_(IsOfFramework(entry)), caller_known_(caller != nullptr && FindLoadedObject(caller, &caller_)) {}

  // False once it is made.
  bool Consider(const Exporter& exporter) {
    const bool of_cuda = IsCudaLibrary(exporter.library);
    if (!exporter.behind_us) {
      // Where we were loaded late, libraries of CUDA come before ours.
      if (before_ == nullptr && of_cuda) before_ = exporter.function;
      return true;
    }
    const bool other_tool = first_ == nullptr && !of_framework_ && !of_cuda;
    if (first_ == nullptr) first_ = exporter.function;
    if (other_tool) return false;
    if (caller_known_ && (caller_.Needs(exporter.library) || caller_.base() == exporter.base)) {
      first_ = exporter.function;
      return false;
    }
    return true;
  }
  void* made() const { return first_ != nullptr ? first_ : before_; }

 private:
  const bool of_framework_;
  LoadedObject caller_;
  const bool caller_known_;
  void *first_ = nullptr, *before_ = nullptr;
};

// False where they are not known: libraries come and go all the time.
bool Exporters::Update(Entry entry) {
  if (count > kMax) visited = {};
  bool remains[kMax] = {};
  const auto note = [&](uint64_t base) {
    for (size_t i = 0; i < count; ++i) remains[i] |= all[i].base == base;
  };
  const auto drop_others = [&](Earlier earlier) {
    if (earlier == Earlier::kForgotten) behind_us = IsOfFramework(entry);
    if (earlier == Earlier::kAllRemain) return;
    size_t kept = 0;
    for (size_t i = 0; earlier == Earlier::kSomeRemain && i < count; ++i) {
      if (remains[i]) all[kept++] = all[i];
    }
    count = kept;
  };
  return EachNewObject(&visited, note, drop_others, [&](const LoadedObject& object) {
    if (IsOwnObject(object)) {
      behind_us = true;
      return;
    }
    void* function = object.Find(EntryName(entry));
    if (function == nullptr) return;
    if (count < kMax) all[count] = {function, object.base(), object.name(), behind_us};
    ++count;
  });
}

void* ChooseAmongAll(Entry entry, const void* caller) {
  Choice choice(entry, caller);
  bool behind_us = IsOfFramework(entry);
  EachLoadedObject([&](const LoadedObject& object) {
    if (IsOwnObject(object)) {
      behind_us = true;
      return true;
    }
    void* function = object.Find(EntryName(entry));
    return function == nullptr || choice.Consider({function, object.base(), object.name(), behind_us});
  });
  return choice.made();
}

// A static that had to be constructed would be constructed by several threads at once: nothing guards it here.
static_assert(std::is_trivially_default_constructible_v<Exporters>, "it is zero from the start");

void* Choose(Entry entry, const void* caller) {
  static Exporters of_entries[kEntryCount];
  static SpinLock lock;
  if (!lock.TryLock()) return ChooseAmongAll(entry, caller);
  Exporters& exporters = of_entries[static_cast<size_t>(entry)];
  const bool all = exporters.Update(entry) && exporters.count <= Exporters::kMax;
  Choice choice(entry, all ? caller : nullptr);
  for (size_t i = 0; all && i < exporters.count && choice.Consider(exporters.all[i]); ++i) {
  }
  lock.Unlock();
  return all ? choice.made() : ChooseAmongAll(entry, caller);
}

}  // namespace

bool Providers::IsNeededBy(Entry entry, const void* caller) {
  LoadedObject calling;
  if (!FindLoadedObject(caller, &calling)) return false;
  bool needed = false;
  EachLoadedObject([&](const LoadedObject& object) {
    if (IsOwnObject(object) || object.Find(EntryName(entry)) == nullptr) return true;
    needed = object.base() == calling.base() || calling.Needs(object.name());
    return !needed;
  });
  return needed;
}

void* Providers::Find(Entry entry, const void* caller) {
  const uint32_t unloads = unloads_.load(std::memory_order_acquire);
  void* const found = Choose(entry, caller);
  if (found == nullptr || caller == nullptr || unloading_.load(std::memory_order_acquire) != 0) return found;
  const uint64_t key = KeyOf(entry, caller);
  CallSite& site = call_sites_[Slot(key)];
  uint64_t before = site.key.load(std::memory_order_relaxed);
  if (before == kBeingWritten || !site.key.compare_exchange_strong(before, kBeingWritten)) return found;
  site.real.store(found, std::memory_order_release);
  site.key.store(key, std::memory_order_release);
  // Either this sees that an unloading has begun, or the unloading sees the call site.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (unloads_.load(std::memory_order_acquire) != unloads) {
    before = key;
    site.key.compare_exchange_strong(before, 0);
  }
  return found;
}

void Providers::ForgetCallSites() {
  unloads_.fetch_add(1, std::memory_order_acq_rel);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // see Find
  for (CallSite& site : call_sites_) {
    uint64_t key = site.key.load(std::memory_order_relaxed);
    if (key != 0 && key != kBeingWritten) site.key.compare_exchange_strong(key, 0);
  }
}

void Providers::BeforeUnload() {
  unloading_.fetch_add(1, std::memory_order_acq_rel);
  ForgetCallSites();
}

void Providers::AfterUnload() {
  ForgetCallSites();
  unloading_.fetch_sub(1, std::memory_order_acq_rel);
}

int RuntimeMajor(const void* real) {
  LoadedObject runtime;
  if (!FindLoadedObject(real, &runtime) || strncmp(runtime.name(), "libcudart", 9) != 0) return 0;
  // "libcudart.so.13", or with a hash before the suffix as in old wheels.
  const char* suffix = strstr(runtime.name(), ".so.");
  if (suffix == nullptr) return 0;
  int major = 0;
  for (const char* c = suffix + 4; *c >= '0' && *c <= '9'; ++c) major = 10 * major + (*c - '0');
  return major;
}

bool IsCudaLibrary(const char* name) {
  for (const char* prefix : {"libcudart", "libcuda.so", "libcuda-", "libcuda_", "libnccl", "libcublas", "libcudnn",
                             "libcufft", "libcusolver", "libcusparse"}) {
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

namespace {

constexpr const char* kNames[] = {
#define VRAMTRACK_ENTRY(entry, parameters) #entry,
#include "interpose/hooks/table/api.inc"
};

constexpr bool kOfFramework[] = {
#define VRAMTRACK_FRAMEWORK_ENTRY(entry, parameters) true,
#define VRAMTRACK_ENTRY(entry, parameters) false,
#include "interpose/hooks/table/api.inc"
};

// Open addressing, filled at compile time: look-ups come before any constructor has run.
constexpr size_t kSlots = 1024;
static_assert(kEntryCount * 2 < kSlots, "half of the slots stay free");

constexpr uint32_t HashOf(const char* name) {
  uint32_t h = 2166136261u;
  for (; *name != '\0'; ++name) h = (h ^ static_cast<unsigned char>(*name)) * 16777619u;
  return h;
}

struct NameIndex {
  uint16_t slots[kSlots] = {};  // 1 + entry, 0: free
  constexpr NameIndex() {
    for (size_t i = 0; i < kEntryCount; ++i) {
      size_t slot = HashOf(kNames[i]) % kSlots;
      while (slots[slot] != 0) slot = (slot + 1) % kSlots;
      slots[slot] = static_cast<uint16_t>(i + 1);
    }
  }
};
constexpr NameIndex kIndex;

}  // namespace

const char* EntryName(Entry entry) { return kNames[static_cast<size_t>(entry)]; }

bool IsOfFramework(Entry entry) { return kOfFramework[static_cast<size_t>(entry)]; }

Entry EntryNamed(const char* name) {
  for (size_t slot = HashOf(name) % kSlots; kIndex.slots[slot] != 0; slot = (slot + 1) % kSlots) {
    const size_t entry = kIndex.slots[slot] - 1u;
    if (strcmp(kNames[entry], name) == 0) return static_cast<Entry>(entry);
  }
  return Entry::kCount;
}

std::atomic<void*> looked_up[kLookedUpWays][kEntryCount];
std::atomic<bool> joined{false};

namespace {

// Calls that only tell something: missing them costs nothing.
constexpr bool kOnlyTells[] = {
#define VRAMTRACK_NOTES(entry, ...) true,
#define VRAMTRACK_NOTES_IF_JOINED(entry, ...) true,
#define VRAMTRACK_ENTRY(entry, parameters) false,
#include "interpose/hooks/table/api.inc"
};

constexpr bool kIfJoined[] = {
#define VRAMTRACK_NOTES_IF_JOINED(entry, ...) true,
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
  if (entry != Entry::kCount && kIfJoined[static_cast<size_t>(entry)] && !joined.load(std::memory_order_relaxed)) {
    return found;
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

// Of thousands of libraries only those are looked at that may contain one of the functions.
void LookedUpLibrariesChanged() {
  // What another thread looks up meanwhile is new, and stays.
  enum : uint8_t { kNew, kSeen, kLoaded } state[kLookedUpWays][kEntryCount] = {};
  uint64_t lowest = UINT64_MAX, highest = 0;
  const auto each = [](auto visit) {
    for (int way = 0; way < kLookedUpWays; ++way) {
      for (size_t i = 0; i < kEntryCount; ++i) {
        const auto at = reinterpret_cast<uint64_t>(looked_up[way][i].load(std::memory_order_relaxed));
        if (at != 0) visit(way, i, at);
      }
    }
  };
  each([&](int way, size_t entry, uint64_t at) {
    state[way][entry] = kSeen;
    if (at < lowest) lowest = at;
    if (at > highest) highest = at;
  });
  if (highest == 0) return;
  EachLoaderEntry([&](const dl_phdr_info& info) {
    for (size_t i = 0; !LiesAbove(info, highest) && i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info.dlpi_phdr[i];
      const uint64_t begin = info.dlpi_addr + segment.p_vaddr;
      if (segment.p_type != PT_LOAD || begin > highest || begin + segment.p_memsz <= lowest) continue;
      each([&](int way, size_t entry, uint64_t at) {
        if (at - begin < segment.p_memsz) state[way][entry] = kLoaded;
      });
    }
    return true;
  });
  each([&](int way, size_t entry, uint64_t) {
    if (state[way][entry] == kSeen) looked_up[way][entry].store(nullptr, std::memory_order_relaxed);
  });
}

}  // namespace vramtrack
