// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/virtual_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "tests/simcuda/device/device.h"
#include "tests/simcuda/device/log.h"

namespace vramtrack::simcuda {
namespace {

// Above the arenas, so that reservations too have the same addresses in every run.
constexpr uintptr_t kFirstReservation = uintptr_t{0x400000000000};

constexpr int kNoAccess = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

int Protection(int access) { return (access & 1 ? PROT_READ : 0) | (access & 2 ? PROT_WRITE : 0); }

// Maps a part of the pages of `memory`, which begins at `base`, at `window`.
bool MapRun(const PhysicalMemory& memory, char* base, size_t bytes, int access, char* window) {
  if (memory.foreign) {
    return mmap(window, bytes, Protection(access), MAP_SHARED | MAP_FIXED | MAP_NORESERVE, memory.file,
                static_cast<off_t>(reinterpret_cast<uintptr_t>(base))) != MAP_FAILED;
  }
  Arena& arena = GetDevice(memory.device).memory.arena();
  if (access != 0) arena.Touch(base, bytes);
  return arena.MapAlias(window, static_cast<size_t>(base - arena.base()), bytes, Protection(access));
}

}  // namespace

VirtualMemory& VirtualMemory::Get() {
  static VirtualMemory* memory = new VirtualMemory;
  return *memory;
}

VirtualMemory::Result VirtualMemory::Reserve(size_t bytes, size_t alignment, void* wish, char** address) {
  if (bytes == 0 || bytes % kPageBytes != 0) return Result::kInvalid;
  if (alignment != 0 && (alignment & (alignment - 1)) != 0) return Result::kInvalid;
  alignment = std::max(alignment, kPageBytes);
  std::lock_guard<std::mutex> lock(mutex_);
  char* hint = static_cast<char*>(wish);
  if (hint == nullptr || reinterpret_cast<uintptr_t>(hint) % alignment != 0) {
    const uintptr_t next =
        std::max(kFirstReservation, reinterpret_cast<uintptr_t>(next_address_) + alignment - 1) / alignment * alignment;
    hint = reinterpret_cast<char*>(next);
  }
  char* base = ReserveAddresses(hint, bytes, alignment);
  if (base == nullptr) return Result::kOutOfMemory;
  next_address_ = std::max(next_address_, base == hint ? base + bytes : nullptr);
  reservations_[base] = bytes;
  *address = base;
  return Result::kOk;
}

VirtualMemory::Result VirtualMemory::Release(void* address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto reservation = reservations_.find(static_cast<char*>(address));
  if (reservation == reservations_.end() || reservation->second != bytes) return Result::kInvalid;
  auto mapping = mappings_.lower_bound(static_cast<char*>(address));
  if (mapping != mappings_.end() && mapping->first < reservation->first + bytes) return Result::kInvalid;
  reservations_.erase(reservation);
  ReleaseAddresses(static_cast<char*>(address), bytes);
  return Result::kOk;
}

VirtualMemory::Result VirtualMemory::Create(int device, size_t bytes, unsigned handle_types, PhysicalMemory** memory) {
  auto* created = new PhysicalMemory;
  created->device = device;
  created->bytes = bytes;
  created->handle_types = handle_types;
  if (!GetDevice(device).memory.TakeScatteredPages(bytes / kPageBytes, PageUse::kPhysical, created, &created->runs)) {
    delete created;
    return Result::kOutOfMemory;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  memories_.insert(created);
  *memory = created;
  return Result::kOk;
}

PhysicalMemory* VirtualMemory::CreateMulticast(size_t bytes, unsigned handle_types) {
  auto* created = new PhysicalMemory;
  created->bytes = bytes;
  created->handle_types = handle_types;
  created->multicast = true;
  std::lock_guard<std::mutex> lock(mutex_);
  memories_.insert(created);
  return created;
}

void VirtualMemory::Retain(PhysicalMemory* memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++memory->handles;
}

VirtualMemory::Result VirtualMemory::Drop(PhysicalMemory* memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (memories_.count(memory) == 0 || memory->handles == 0) return Result::kInvalid;
  --memory->handles;
  FreeIfUnused(memory);
  return Result::kOk;
}

bool VirtualMemory::IsLive(PhysicalMemory* memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  return memories_.count(memory) != 0 && memory->handles != 0;
}

void VirtualMemory::FreeIfUnused(PhysicalMemory* memory) {
  if (memory->handles != 0 || memory->mappings != 0) return;
  if (!memory->borrowed) {
    for (const DeviceMemory::PageRun& run : memory->runs) GetDevice(memory->device).memory.ReturnPages(run.base);
  }
  if (memory->file >= 0) close(memory->file);
  for (const auto& bound : memory->bound) {
    --bound.second->mappings;
    FreeIfUnused(bound.second);
  }
  memories_.erase(memory);
  delete memory;
}

VirtualMemory::Result VirtualMemory::Map(void* address, size_t bytes, size_t offset, PhysicalMemory* memory) {
  char* base = static_cast<char*>(address);
  std::lock_guard<std::mutex> lock(mutex_);
  if (memories_.count(memory) == 0 || memory->handles == 0) return Result::kInvalid;
  if (bytes == 0 || bytes % kPageBytes != 0 || offset % kPageBytes != 0) return Result::kInvalid;
  if (reinterpret_cast<uintptr_t>(base) % kPageBytes != 0) return Result::kInvalid;
  if (offset > memory->bytes || bytes > memory->bytes - offset) return Result::kInvalid;
  auto reservation = reservations_.upper_bound(base);
  if (reservation == reservations_.begin()) return Result::kInvalid;
  --reservation;
  if (base + bytes > reservation->first + reservation->second) return Result::kInvalid;
  auto next = mappings_.lower_bound(base);
  if (next != mappings_.end() && next->first < base + bytes) return Result::kInvalid;
  if (next != mappings_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second.bytes > base) return Result::kInvalid;
  }
  mappings_[base] = Mapping{base, bytes, memory->device, memory, offset, 0};
  ++memory->mappings;
  Count(Counter::kMap);
  return Result::kOk;
}

VirtualMemory::Result VirtualMemory::Unmap(void* address, size_t bytes) {
  char* base = static_cast<char*>(address);
  char* end = base + bytes;
  std::lock_guard<std::mutex> lock(mutex_);
  char* covered = base;
  for (auto mapping = mappings_.find(base); covered < end; ++mapping) {
    if (mapping == mappings_.end() || mapping->first != covered) return Result::kInvalid;
    covered += mapping->second.bytes;
  }
  if (covered != end || bytes == 0) return Result::kInvalid;
  mmap(base, bytes, PROT_NONE, kNoAccess, -1, 0);
  for (auto mapping = mappings_.find(base); mapping != mappings_.end() && mapping->first < end;) {
    PhysicalMemory* memory = mapping->second.memory;
    mapping = mappings_.erase(mapping);
    --memory->mappings;
    FreeIfUnused(memory);
    Count(Counter::kUnmap);
  }
  return Result::kOk;
}

VirtualMemory::Result VirtualMemory::SetAccess(void* address, size_t bytes, int access) {
  char* base = static_cast<char*>(address);
  char* end = base + bytes;
  std::lock_guard<std::mutex> lock(mutex_);
  auto first = mappings_.find(base);
  char* covered = base;
  for (auto mapping = first; covered < end; ++mapping) {
    if (mapping == mappings_.end() || mapping->first != covered) return Result::kInvalid;
    covered += mapping->second.bytes;
  }
  if (covered != end || bytes == 0) return Result::kInvalid;
  for (auto mapping = first; mapping != mappings_.end() && mapping->first < end; ++mapping) {
    Mapping& entry = mapping->second;
    entry.access = access;
    if (!entry.memory->foreign && !GetDevice(entry.device).memory.arena().backed()) continue;
    if (entry.memory->foreign && entry.memory->file < 0) continue;
    // The mapping is a window on the pages that the memory holds, from `offset` on.
    size_t skip = entry.offset;
    char* window = entry.base;
    size_t rest = entry.bytes;
    for (const DeviceMemory::PageRun& run : entry.memory->runs) {
      const size_t run_bytes = run.pages * kPageBytes;
      if (skip >= run_bytes) {
        skip -= run_bytes;
        continue;
      }
      const size_t length = std::min(rest, run_bytes - skip);
      if (!MapRun(*entry.memory, run.base + skip, length, access, window)) return Result::kOutOfMemory;
      window += length;
      rest -= length;
      skip = 0;
      if (rest == 0) break;
    }
  }
  return Result::kOk;
}

VirtualMemory::Result VirtualMemory::Bind(PhysicalMemory* multicast, size_t offset, PhysicalMemory* memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (memories_.count(multicast) == 0 || !multicast->multicast) return Result::kInvalid;
  if (memories_.count(memory) == 0 || memory->multicast) return Result::kInvalid;
  if (!multicast->bound.emplace(offset, memory).second) return Result::kInvalid;
  ++memory->mappings;
  return Result::kOk;
}

VirtualMemory::Result VirtualMemory::Unbind(PhysicalMemory* multicast, size_t offset) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (memories_.count(multicast) == 0) return Result::kInvalid;
  auto bound = multicast->bound.find(offset);
  if (bound == multicast->bound.end()) return Result::kInvalid;
  PhysicalMemory* memory = bound->second;
  multicast->bound.erase(bound);
  --memory->mappings;
  FreeIfUnused(memory);
  return Result::kOk;
}

bool VirtualMemory::FindWindow(pid_t process, const char* target, char** window) {
  for (auto& entry : windows_) {
    if (entry.second.process != process || entry.second.target != target) continue;
    ++entry.second.opened;
    *window = entry.first;
    return true;
  }
  return false;
}

VirtualMemory::Result VirtualMemory::MapWindow(pid_t process, char* target, PhysicalMemory* borrowed, size_t skip,
                                               char** window) {
  char* reservation = nullptr;
  const size_t bytes = borrowed->bytes;
  Result result = Reserve(bytes, 0, nullptr, &reservation);
  if (result == Result::kOk) {
    Map(reservation, bytes, 0, borrowed);
    result = SetAccess(reservation, bytes, 3);
    if (result != Result::kOk) {
      Unmap(reservation, bytes);
      Release(reservation, bytes);
    }
  }
  // From here on it lives as long as the mapping.
  Drop(borrowed);
  if (result != Result::kOk) return result;
  *window = reservation + skip;
  windows_[*window] = Window{process, target, reservation, bytes, 1};
  return Result::kOk;
}

VirtualMemory::Result VirtualMemory::OpenWindow(DeviceMemory* device, int ordinal, char* address, size_t bytes,
                                                char** window) {
  std::lock_guard<std::mutex> windows_lock(windows_mutex_);
  if (FindWindow(0, address, window)) return Result::kOk;
  const size_t skip = static_cast<size_t>(address - device->arena().base()) % kPageBytes;
  const size_t pages = (skip + bytes + kPageBytes - 1) / kPageBytes;
  auto* memory = new PhysicalMemory;
  memory->device = ordinal;
  memory->bytes = pages * kPageBytes;
  memory->borrowed = true;
  memory->runs = {{address - skip, pages}};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    memories_.insert(memory);
  }
  return MapWindow(0, address, memory, skip, window);
}

VirtualMemory::Result VirtualMemory::OpenForeignWindow(pid_t process, char* address, int ordinal, int file,
                                                       size_t offset, size_t bytes, char** window) {
  std::lock_guard<std::mutex> windows_lock(windows_mutex_);
  if (FindWindow(process, address, window)) {
    if (file >= 0) close(file);
    return Result::kOk;
  }
  const size_t skip = offset % kPageBytes;
  const size_t pages = (skip + bytes + kPageBytes - 1) / kPageBytes;
  PhysicalMemory* memory =
      AdoptForeign(ordinal, file, pages * kPageBytes, {{reinterpret_cast<char*>(offset - skip), pages}});
  return MapWindow(process, address, memory, skip, window);
}

PhysicalMemory* VirtualMemory::AdoptForeign(int ordinal, int file, size_t bytes,
                                            const std::vector<DeviceMemory::PageRun>& runs) {
  auto* memory = new PhysicalMemory;
  memory->device = ordinal;
  memory->bytes = bytes;
  memory->borrowed = true;
  memory->foreign = true;
  memory->file = file;
  memory->runs = runs;
  std::lock_guard<std::mutex> lock(mutex_);
  memories_.insert(memory);
  return memory;
}

VirtualMemory::Result VirtualMemory::CloseWindow(void* window) {
  std::lock_guard<std::mutex> windows_lock(windows_mutex_);
  auto entry = windows_.find(static_cast<char*>(window));
  if (entry == windows_.end()) return Result::kInvalid;
  if (--entry->second.opened != 0) return Result::kOk;
  Unmap(entry->second.reservation, entry->second.bytes);
  Release(entry->second.reservation, entry->second.bytes);
  windows_.erase(entry);
  return Result::kOk;
}

bool VirtualMemory::FindMapping(const void* address, Mapping* found) {
  char* wanted = static_cast<char*>(const_cast<void*>(address));
  std::lock_guard<std::mutex> lock(mutex_);
  auto mapping = mappings_.upper_bound(wanted);
  if (mapping == mappings_.begin()) return false;
  --mapping;
  if (wanted >= mapping->first + mapping->second.bytes) return false;
  *found = mapping->second;
  return true;
}

bool VirtualMemory::FindReservation(const void* address, char** base, size_t* bytes) {
  char* wanted = static_cast<char*>(const_cast<void*>(address));
  std::lock_guard<std::mutex> lock(mutex_);
  auto reservation = reservations_.upper_bound(wanted);
  if (reservation == reservations_.begin()) return false;
  --reservation;
  if (wanted >= reservation->first + reservation->second) return false;
  *base = reservation->first;
  *bytes = reservation->second;
  return true;
}

}  // namespace vramtrack::simcuda
