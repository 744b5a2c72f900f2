// SPDX-License-Identifier: Apache-2.0
//
// What one thread has to do with the autograd graph: the nodes that it made, and the ones that it is evaluating.
#ifndef INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RING_H_
#define INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack::torch {

// The last nodes that a thread made: from a node's number, of which PyTorch counts one sequence a thread, to the stack
// of the forward call. Lives in zeroed memory, of which only what is used is there. Written by its thread, read by all;
// a node is only handed on through PyTorch's own queues, so an entry is there when its node is.
class GraphRing {
 public:
  static constexpr size_t kNodes = size_t{1} << 19;

  void Put(uint64_t number, uint32_t stack) {
    made_[number % kNodes].store(Present(number) | stack, std::memory_order_relaxed);
  }

  // Whether the node of this number was made here and not long ago. Of the others the stack is 0.
  bool Has(uint64_t number) const { return ((Entry(number) ^ Present(number)) & kTagMask) == 0; }
  uint32_t StackOf(uint64_t number) const { return Has(number) ? static_cast<uint32_t>(Entry(number)) : 0; }

  // False if the number is known to be another node's. `node`: its address.
  bool Claim(uint64_t number, uint64_t node) {
    std::atomic<uint64_t>& entry = made_[number % kNodes];
    const uint64_t hash = ((node >> 4) * 0x9e3779b97f4a7c15 >> (64 - kHashBits) | 1) << kHashShift;
    uint64_t old = entry.load(std::memory_order_relaxed);
    if ((old & kHashMask) == 0) entry.compare_exchange_strong(old, old | hash, std::memory_order_relaxed);
    return (old & kHashMask) == 0 || (old & kHashMask) == hash;
  }

  // A node that the thread is evaluating, the innermost last.
  struct Evaluation {
    uint64_t frame;         // of the hook: further in, the stack pointer is smaller
    uint64_t python_frame;  // the innermost one at the time, 0 for none
    uint32_t stack;         // of the forward call, 0 for not known
    schema::GraphNode kind;
  };
  static constexpr size_t kMaxDepth = 64;

  Evaluation* Push(uint64_t frame) {
    Drop(frame + 1);
    return depth_ < kMaxDepth ? &evaluations_[depth_++] : nullptr;
  }
  // Takes away what is not around `frame`: it was left by longjmp, or, with the frame itself, is done.
  void Drop(uint64_t frame) {
    while (depth_ > 0 && evaluations_[depth_ - 1].frame < frame) --depth_;
  }
  void Pop() {
    if (depth_ > 0) --depth_;
  }
  const Evaluation* Innermost() const { return depth_ == 0 ? nullptr : &evaluations_[depth_ - 1]; }

  // PyTorch's number for the thread; 0 while the ring is nobody's.
  std::atomic<uint64_t> owner{0};
  std::atomic<uint32_t> system_thread{0};

 private:
  // An entry, from its lowest bit: the stack; of the node's address, once it was met; of the number, what the place
  // does not say; always set.
  static constexpr int kHashBits = 12, kHashShift = 32, kTagShift = kHashShift + kHashBits;
  static constexpr uint64_t kHashMask = ((uint64_t{1} << kHashBits) - 1) << kHashShift;
  static constexpr uint64_t kTagMask = ~uint64_t{0} << kTagShift;

  static uint64_t Present(uint64_t number) { return uint64_t{1} << 63 | (number / kNodes) << kTagShift; }
  uint64_t Entry(uint64_t number) const { return made_[number % kNodes].load(std::memory_order_relaxed); }

  size_t depth_ = 0;
  Evaluation evaluations_[kMaxDepth];
  std::atomic<uint64_t> made_[kNodes];
};

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RING_H_
