// SPDX-License-Identifier: Apache-2.0
//
// Records in the trace at which addresses each library is loaded, so that addresses can be turned into names later.
#ifndef INTERPOSE_STACKS_MODULE_MAP_H_
#define INTERPOSE_STACKS_MODULE_MAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/recorder/lane.h"
#include "interpose/stacks/mapped_paths.h"

struct dl_phdr_info;

namespace vramtrack {

// The loaded libraries of the process. Thread-safe. Zero-initialised memory is an empty map.
class ModuleMap {
 public:
  // Compares the loader's list with the map, and defines in `lane` which libraries are new and which are gone. Costs
  // about 50 ns if nothing was loaded or unloaded since the last call. Returns false, without doing anything, if
  // another thread is refreshing the map.
  bool Refresh(Lane* lane);

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
    uint64_t base, identity;  // load bias; hash of the name, the load bias and the segment sizes
    uint32_t id;
    uint32_t seen;  // number of the last reading that found it
    uint32_t next;  // 1 + index of the next entry in the bucket; 0: none
  };
  static constexpr size_t kMaxModules = 16384;
  static constexpr int kBucketBits = 12;
  static constexpr uint32_t kUnloaded = 1, kUnloading = 2;

  static int OnCounters(dl_phdr_info* info, size_t size, void* self);
  static int OnModule(dl_phdr_info* info, size_t size, void* self);
  uint32_t* BucketOf(uint64_t identity) { return &buckets_[identity * 0x9e3779b97f4a7c15 >> (64 - kBucketBits)]; }
  Known* Find(uint64_t base, uint64_t identity);
  void Add(const Known& module);
  void Sweep();
  void Define(const dl_phdr_info& info, uint32_t id);
  const char* PathOf(const dl_phdr_info& info, bool has_build_id, char* buffer, size_t capacity);
  void DefineGone(uint32_t id);

  SpinLock lock_;
  std::atomic<uint32_t> epoch_, generation_;
  std::atomic<uint32_t> unloads_;  // kUnloading for each unload in progress, plus kUnloaded after one until Refresh
  uint64_t adds_, subs_;           // the loader's counters at the last reading
  uint64_t new_adds_, new_subs_;
  size_t count_;
  uint32_t next_id_;
  // State of Refresh: the number of this reading, the position in the loader's list, and the length of the list at the
  // last reading.
  uint32_t reading_;
  size_t place_, listed_;
  Lane* lane_;
  MappedPaths mapped_;                          // during a reading
  uint32_t buckets_[size_t{1} << kBucketBits];  // 1 + index of the first entry; 0: empty
  Known known_[kMaxModules];
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_MODULE_MAP_H_
