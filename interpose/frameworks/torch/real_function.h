// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_FRAMEWORKS_TORCH_REAL_FUNCTION_H_
#define INTERPOSE_FRAMEWORKS_TORCH_REAL_FUNCTION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/loader/loaded_object.h"

namespace vramtrack::torch {

// A cache for Providers::Real, for a function with very many call sites: it caches the result for each calling library
// instead of each call site. Must be static and zeroed. Thread-safe.
template <Entry kEntry>
class RealFunction {
 public:
  // Returns the real function for a call from the address `caller`; may be null.
  void* For(const void* caller) {
    const auto at = reinterpret_cast<uint64_t>(caller);
    const uint32_t version = version_.load(std::memory_order_acquire);
    if (__builtin_expect((version & 1) == 0 && unloads_.load(std::memory_order_relaxed) == Providers::unloads(), 1)) {
      for (const Caller& one : callers_) {
        if (at - one.begin.load(std::memory_order_relaxed) >= one.bytes.load(std::memory_order_relaxed)) continue;
        void* const real = one.real.load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (version_.load(std::memory_order_relaxed) == version) return real;
        break;
      }
    }
    return Find(caller);
  }

 private:
  struct Caller {
    std::atomic<uint64_t> begin, bytes;  // its code
    std::atomic<void*> real;
  };

  __attribute__((noinline)) void* Find(const void* caller) {
    const uint32_t unloads = Providers::unloads();
    LoadedObject object;
    uint64_t begin, bytes;
    void* const real = Providers::Real(kEntry, caller);
    if (real == nullptr || !FindLoadedObject(caller, &object) || !object.SegmentOf(caller, &begin, &bytes)) return real;
    if (!lock_.TryLock()) return real;
    version_.fetch_add(1, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_release);  // a reader that sees what is stored now sees the odd version
    if (unloads_.load(std::memory_order_relaxed) != unloads) {
      for (Caller& one : callers_) one.bytes.store(0, std::memory_order_relaxed);
      unloads_.store(unloads, std::memory_order_relaxed);
      next_ = 0;
    }
    Caller& one = callers_[next_++ % kCallers];
    one.begin.store(begin, std::memory_order_relaxed);
    one.bytes.store(bytes, std::memory_order_relaxed);
    one.real.store(real, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_acq_rel);
    lock_.Unlock();
    return real;
  }

  static constexpr size_t kCallers = 4;
  std::atomic<uint32_t> version_, unloads_;
  Caller callers_[kCallers];
  SpinLock lock_;
  size_t next_;
};

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_REAL_FUNCTION_H_
