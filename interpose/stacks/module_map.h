// SPDX-License-Identifier: Apache-2.0
//
// Records in the trace at which addresses each library is loaded, so that addresses can be turned into names later.
#ifndef INTERPOSE_STACKS_MODULE_MAP_H_
#define INTERPOSE_STACKS_MODULE_MAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/compact_table.h"
#include "interpose/base/memory_maps.h"
#include "interpose/base/spin_lock.h"
#include "interpose/recorder/event_writer.h"

struct dl_phdr_info;

namespace vramtrack {

// The loaded libraries of the process. Thread-safe. Zero-initialised memory is an empty map.
class ModuleMap {
 public:
  // Compares the loader's list with the map, and defines in `writer` which libraries are new and which are gone. Costs
  // about 50 ns if nothing was loaded or unloaded since the last call. Returns false, without doing anything, if
  // another thread is refreshing the map.
  bool Refresh(EventWriter* writer);

  // The addresses of a stack are valid for the map of one epoch. A new epoch begins when a library is unloaded, because
  // another library may be loaded at the same addresses afterwards.
  uint32_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  // Changes whenever Refresh finds that a library was loaded or unloaded.
  uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  // Call UnloadBegins before the program may unload a library, and UnloadEnds after. From UnloadBegins on,
  // refresh_due() is true and callers must refresh the map before they look up a known stack: another library may be
  // loaded at the same addresses before UnloadEnds.
  void UnloadBegins() { unloads_.fetch_add(kUnloading, std::memory_order_acq_rel); }
  void UnloadEnds() {
    unloads_.fetch_or(kUnloaded, std::memory_order_acq_rel);
    unloads_.fetch_sub(kUnloading, std::memory_order_acq_rel);
  }
  bool refresh_due() const { return unloads_.load(std::memory_order_acquire) != 0; }

  // Refresh calls this function, without holding its lock, after libraries have been loaded. May be null.
  static std::atomic<void (*)()> on_loaded;

 private:
  struct Known {
    uint32_t id;
    uint32_t seen;  // number of the last reading that found it, counted from 1
  };
  static constexpr uint32_t kUnloaded = 1, kUnloading = 2;

  void ReadModule(const dl_phdr_info& info);
  void Sweep();
  void Define(const dl_phdr_info& info, uint32_t id);
  bool MappedPathOf(const dl_phdr_info& info, char* path, size_t capacity);
  const char* PathOf(const dl_phdr_info& info, bool has_build_id, char* buffer, size_t capacity);
  void DefineGone(uint32_t id);

  std::atomic<uint32_t> epoch_, generation_;
  std::atomic<uint32_t> unloads_;  // kUnloading for each unload in progress, plus kUnloaded after one until Refresh
  SpinLock lock_;
  uint64_t adds_, subs_;  // the loader's counters at the last reading
  uint32_t next_id_;
  // State of Refresh: the number of this reading, the position in the loader's list, and the length of the list at the
  // last reading.
  uint32_t reading_;
  size_t place_, listed_;
  EventWriter* writer_;
  MemoryMaps maps_;  // during a reading, once it is needed
  // By a hash of the name, the load bias and the segment sizes.
  CompactTable<Known> known_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_MODULE_MAP_H_
