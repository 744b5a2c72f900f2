// SPDX-License-Identifier: Apache-2.0
//
// The autograd graph nodes of one thread: those that it made, and those that it is evaluating.
#ifndef INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RING_H_
#define INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack::torch {

// Maps the numbers of the last kNodes nodes that a thread made to the stacks of their forward calls. PyTorch numbers
// the nodes of each thread from one sequence. Must be placed in zeroed memory; pages that are not used take no memory.
// Any thread may call Has, StackOf and Claim, but only the owning thread may call the other functions. A node reaches
// another thread only through PyTorch's own queues, so its entry is visible there.
class GraphRing {
 public:
  static constexpr size_t kNodes = size_t{1} << 19;

  // Records the stack of the forward call that made the node.
  void Put(uint64_t number, uint32_t stack) {
    made_[number % kNodes].store(Present(number) | stack, std::memory_order_relaxed);
  }

  // Has returns whether this thread made the node with this number and the ring still has it. StackOf returns its
  // stack, or 0 if the ring does not have it.
  bool Has(uint64_t number) const { return ((Entry(number) ^ Present(number)) & kTagMask) == 0; }
  uint32_t StackOf(uint64_t number) const { return Has(number) ? static_cast<uint32_t>(Entry(number)) : 0; }

  // Associates the number with the address `node`. Returns false if the number already belongs to another node.
  bool Claim(uint64_t number, uint64_t node) {
    std::atomic<uint64_t>& entry = made_[number % kNodes];
    const uint64_t hash = ((node >> 4) * 0x9e3779b97f4a7c15 >> (64 - kHashBits) | 1) << kHashShift;
    uint64_t old = entry.load(std::memory_order_relaxed);
    if ((old & kHashMask) == 0) entry.compare_exchange_strong(old, old | hash, std::memory_order_relaxed);
    return (old & kHashMask) == 0 || (old & kHashMask) == hash;
  }

  // A node that the thread is evaluating.
  struct Evaluation {
    uint64_t frame;         // stack address of the hook; smaller for inner evaluations
    uint64_t python_frame;  // innermost Python frame at the start, 0: none
    uint32_t stack;         // stack of the forward call, 0: unknown
    schema::GraphNode kind;
  };
  static constexpr size_t kMaxDepth = 64;

  // Begins an evaluation. Returns its entry to be filled, or null if kMaxDepth is reached.
  Evaluation* Push(uint64_t frame) {
    Drop(frame + 1);
    return depth_ < kMaxDepth ? &evaluations_[depth_++] : nullptr;
  }
  // Removes the evaluations with smaller frames than `frame`, which longjmp has left. With `frame` + 1 also removes the
  // evaluation of `frame` itself.
  void Drop(uint64_t frame) {
    while (depth_ > 0 && evaluations_[depth_ - 1].frame < frame) --depth_;
  }
  // Removes the innermost evaluation, if any.
  void Pop() {
    if (depth_ > 0) --depth_;
  }
  // Returns the innermost evaluation, or null.
  const Evaluation* Innermost() const { return depth_ == 0 ? nullptr : &evaluations_[depth_ - 1]; }

  // PyTorch's number for the owning thread; 0 while the ring has no owner.
  std::atomic<uint64_t> owner{0};
  std::atomic<uint32_t> system_thread{0};

 private:
  // The parts of an entry from the lowest bit: the stack (32 bits); a hash of the node's address once Claim has set it
  // (12 bits); the part of the number that the position does not give; and the highest bit, which is always set.
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
