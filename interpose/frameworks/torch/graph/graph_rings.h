// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RINGS_H_
#define INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RINGS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/frameworks/torch/graph/graph_ring.h"

namespace vramtrack::torch {

// The rings of all threads, by PyTorch's number for a thread. That of a thread that has ended stays until another one
// needs its place, for the graph that it made may still be run. Zeroed memory holds none. Thread-safe.
class GraphRings {
 public:
  // Null where nobody of that number is known.
  GraphRing* Of(uint64_t thread) const {
    if (thread == 0) return nullptr;
    for (size_t i = 0; i < kProbes; ++i) {
      GraphRing* ring = rings_[(thread + i) % kRings].load(std::memory_order_acquire);
      if (ring != nullptr && ring->owner.load(std::memory_order_acquire) == thread) return ring;
    }
    return nullptr;
  }

  // The calling thread's own, made or taken over from a thread that has ended; null where there is no room.
  // `system_thread`: the kernel's number for it.
  GraphRing* Take(uint64_t thread, uint32_t system_thread);

 private:
  static constexpr size_t kRings = 256;  // a little less than 4.2 MB each, if its thread makes that many nodes
  static constexpr size_t kProbes = 8;

  SpinLock lock_;
  std::atomic<GraphRing*> rings_[kRings];
};

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RINGS_H_
