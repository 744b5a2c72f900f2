// SPDX-License-Identifier: Apache-2.0
//
// Which library lies where, kept up to date in the trace so that addresses can be turned into names elsewhere.
#ifndef INTERPOSE_STACKS_MODULE_MAP_H_
#define INTERPOSE_STACKS_MODULE_MAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/recorder/lane.h"

struct dl_phdr_info;

namespace vramtrack {

// Thread-safe. Zero-initialised memory is an empty map.
class ModuleMap {
 public:
  // Compares the loader's list with what the trace has and defines in `lane` what is new or gone. Costs some 50 ns
  // where nothing was loaded or unloaded since. False, with nothing done, where another thread is at it.
  bool Refresh(Lane* lane);

  // A stack means what it says under the map of its epoch: another epoch begins when a library goes away, because its
  // addresses may be another's afterwards.
  uint32_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  // Changes whenever Refresh has found something loaded or unloaded.
  uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  // To be told before and after the program may unload a library: from the first moment on Refresh is due before a
  // stack is taken for a known one, because another library may lie there before the second.
  void UnloadBegins() { unloads_.fetch_add(kUnloading, std::memory_order_acq_rel); }
  void UnloadEnds() {
    unloads_.fetch_or(kUnloaded, std::memory_order_acq_rel);
    unloads_.fetch_sub(kUnloading, std::memory_order_acq_rel);
  }
  bool refresh_due() const { return unloads_.load(std::memory_order_acquire) != 0; }

  // Called after libraries have been loaded, outside of any lock; may be null.
  static std::atomic<void (*)()> on_loaded;

 private:
  struct Known {
    uint64_t base, identity;  // load bias, and a hash of where its code lies and of its name
    uint32_t id;
    uint32_t seen;  // the reading that met it last
    uint32_t next;  // 1 + the next one of its bucket
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
  void DefineGone(uint32_t id);

  SpinLock lock_;
  std::atomic<uint32_t> epoch_, generation_;
  std::atomic<uint32_t> unloads_;  // kUnloading for each one under way; kUnloaded after one, until Refresh
  uint64_t adds_, subs_;           // the loader's counters at the last reading
  uint64_t new_adds_, new_subs_;
  size_t count_;
  uint32_t next_id_;
  // During Refresh: which one, where in the list it is, and the list's length at the last one.
  uint32_t reading_;
  size_t place_, listed_;
  Lane* lane_;
  uint32_t buckets_[size_t{1} << kBucketBits];  // 1 + the first one of each
  Known known_[kMaxModules];
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_MODULE_MAP_H_
