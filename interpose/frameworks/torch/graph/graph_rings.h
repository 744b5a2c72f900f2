// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RINGS_H_
#define INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RINGS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/frameworks/torch/graph/graph_ring.h"

namespace vramtrack::torch {

// The rings of all threads, keyed by PyTorch's number for a thread. The ring of a thread that has ended is kept until
// another thread needs its place, because the graph that it made may still be run. Zeroed memory is an empty set.
// Thread-safe.
class GraphRings {
 public:
  // Returns the ring of this thread, or null if the number is unknown.
  GraphRing* Of(uint64_t thread) const {
    if (thread == 0) return nullptr;
    for (size_t i = 0; i < kProbes; ++i) {
      GraphRing* ring = rings_[(thread + i) % kRings].load(std::memory_order_acquire);
      if (ring != nullptr && ring->owner.load(std::memory_order_acquire) == thread) return ring;
    }
    return nullptr;
  }

  // Returns a ring for the calling thread, which is new or taken over from a thread that has ended. Returns null if no
  // place is free or memory cannot be allocated. `system_thread` is the kernel's thread id of the calling thread.
  GraphRing* Take(uint64_t thread, uint32_t system_thread);

 private:
  static constexpr size_t kRings = 256;  // at most 4.2 MB each, if the thread makes kNodes nodes
  static constexpr size_t kProbes = 8;

  SpinLock lock_;
  std::atomic<GraphRing*> rings_[kRings];
};

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RINGS_H_
