// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/process_memory.h"

#include <sys/uio.h>

#include <cstring>
#include <initializer_list>

#include "interpose/base/memory_maps.h"
#include "interpose/base/system_call.h"
#include "interpose/loader/loaded_object.h"

namespace vramtrack::holders {
namespace {

constexpr size_t kPage = 4096;

constexpr uint64_t kChunkFlags = 7, kPreviousInUse = 1;

// Whether a word may be the header of a chunk of glibc's malloc. std::make_shared puts two counts of 32 bits before an
// object. The upper one is never 0, so together they are a larger number than the size of any chunk that is accepted.
bool IsChunk(uint64_t header) {
  constexpr uint64_t kLeast = 32, kMost = uint64_t{1} << 32;
  return (header & 8) == 0 && (header & ~kChunkFlags) >= kLeast && (header & ~kChunkFlags) < kMost;
}

}  // namespace

bool ProcessMemory::Prepare() {
  heap_.Clear();
  files_.Clear();
  MemoryMaps maps = {};
  maps.Read();
  maps.Each([this](const MemoryMaps::Range& range) {
    const bool file = range.path_bytes > 0 && *range.path == '/';
    if (!range.readable || (!file && !range.writable)) return true;
    GrowingArray<Range>& to = file ? files_ : heap_;
    if (to.size() > 0 && to[to.size() - 1].end == range.begin) {
      to[to.size() - 1].end = range.end;
    } else if (to.Reserve(1)) {
      to.Add({range.begin, range.end});
    }
    return true;
  });
  maps.Free();
  // The first library that has it serves all. `&malloc` would not tell: in a program that is linked to a fixed address,
  // such as Debian's python3, it may be a stub in the program.
  EachLoadedObject([this](const LoadedObject& object) {
    if (object.Find("malloc") == nullptr) return true;
    glibc_ = std::strncmp(object.name(), "libc.so", 7) == 0;
    return false;
  });
  return heap_.size() > 0 && files_.size() > 0;
}

void ProcessMemory::Unmap() {
  heap_.Free();
  files_.Free();
}

bool ProcessMemory::In(const GrowingArray<Range>& ranges, uint64_t address) {
  size_t low = 0, high = ranges.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (ranges[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < ranges.size() && ranges[low].begin <= address;
}

size_t ProcessMemory::Read(uint64_t address, void* to_first, size_t first, void* to_second, size_t second) const {
  const iovec local[2] = {{to_first, first}, {to_second, second}};
  const iovec remote = {reinterpret_cast<void*>(address), first + second};
  const int64_t got = ReadOwnMemory(local, 2, &remote, 1);
  if (got >= 0) return static_cast<size_t>(got);
  const size_t done = Read(address, to_first, first);
  return done < first ? done : first + Read(address + first, to_second, second);
}

size_t ProcessMemory::Read(uint64_t address, void* to, size_t bytes) const {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  const int64_t got = ReadOwnMemory(&local, 1, &remote, 1);
  if (got >= 0) return static_cast<size_t>(got);
  // One page at a time: the range may end in one that cannot be read, and a sandbox may forbid the call.
  size_t done = 0;
  while (done < bytes && IsReadable((address + done) & ~uint64_t{7})) {
    size_t part = kPage - (address + done) % kPage;
    if (part > bytes - done) part = bytes - done;
    std::memcpy(static_cast<char*>(to) + done, reinterpret_cast<const void*>(address + done), part);
    done += part;
  }
  return done;
}

// A chunk begins with its size and flags, of which the lowest says whether the chunk before is in use. What it gives
// out follows, and then the next chunk (glibc's malloc/malloc.c). std::make_shared puts its counts before the object.
size_t ProcessMemory::ReadObject(uint64_t address, uint64_t* words, size_t most) const {
  constexpr size_t kBefore = 3;
  uint64_t before[kBefore];
  const size_t bytes = Read(address - 8 * kBefore, before, sizeof before, words, 8 * most);
  if (!glibc_ || address % 16 != 0 || bytes <= sizeof before) return 0;
  const size_t got = bytes / 8 - kBefore;
  for (const size_t counts : {size_t{0}, size_t{2}}) {
    const uint64_t size = before[kBefore - 1 - counts];
    if (!IsChunk(size) || (counts != 0 && !IsFile(before[1]))) continue;
    const size_t held = (size & ~kChunkFlags) / 8 - 1 - counts;
    if (held >= got) return got;
    if (IsChunk(words[held]) && (words[held] & kPreviousInUse) != 0) return held;
  }
  return 0;
}

bool ProcessMemory::IsArray(uint64_t address, uint64_t bytes) const {
  constexpr uint64_t kBelieved = 1024, kMostUnused = 48;
  if (!glibc_) return bytes <= kBelieved;
  uint64_t size, next;
  if (address % 16 != 0 || Read(address - 8, &size, sizeof size) != sizeof size || !IsChunk(size)) return false;
  const uint64_t held = (size & ~kChunkFlags) - 8;
  if (bytes > held || held - bytes > kMostUnused) return false;
  return Read(address + held, &next, sizeof next) == sizeof next && IsChunk(next) && (next & kPreviousInUse) != 0;
}

void ProcessMemory::ReadWords(const uint64_t* addresses, size_t count, uint64_t* words) const {
  constexpr size_t kMost = 128;
  for (size_t first = 0; first < count;) {
    iovec remote[kMost];
    const size_t some = count - first < kMost ? count - first : kMost;
    for (size_t i = 0; i < some; ++i) remote[i] = {reinterpret_cast<void*>(addresses[first + i]), 8};
    iovec local = {words + first, 8 * some};
    const int64_t got = ReadOwnMemory(&local, 1, remote, some);
    const size_t read = got > 0 ? static_cast<size_t>(got) / 8 : 0;
    first += read;
    if (read < some) {
      if (Read(addresses[first], &words[first], 8) != 8) words[first] = 0;
      ++first;
    }
  }
}

}  // namespace vramtrack::holders
