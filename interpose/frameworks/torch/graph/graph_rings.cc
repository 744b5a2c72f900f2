// SPDX-License-Identifier: Apache-2.0
#include "interpose/frameworks/torch/graph/graph_rings.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/base/system_call.h"

namespace vramtrack::torch {
namespace {

// Its number may be a later thread's by now, which looks as if it were alive; then its place is not taken.
bool HasEnded(uint32_t system_thread) { return syscall(SYS_tgkill, getpid(), system_thread, 0) != 0; }

}  // namespace

GraphRing* GraphRings::Take(uint64_t thread, uint32_t system_thread) {
  const SpinLockHolder hold(&lock_);
  if (!hold.held()) return nullptr;
  for (size_t i = 0; i < kProbes; ++i) {
    std::atomic<GraphRing*>& place = rings_[(thread + i) % kRings];
    GraphRing* old = place.load(std::memory_order_relaxed);
    if (old != nullptr) {
      if (!HasEnded(old->system_thread.load(std::memory_order_relaxed))) continue;
      // Emptied where it is: others may be reading it.
      old->owner.store(0, std::memory_order_release);
      if (!Empty(old, sizeof *old)) continue;
    }
    GraphRing* ring = old != nullptr ? old : static_cast<GraphRing*>(MapPrivate(sizeof(GraphRing)));
    if (ring == nullptr) return nullptr;
    ring->system_thread.store(system_thread, std::memory_order_relaxed);
    ring->owner.store(thread, std::memory_order_release);
    place.store(ring, std::memory_order_release);
    return ring;
  }
  return nullptr;
}

}  // namespace vramtrack::torch
