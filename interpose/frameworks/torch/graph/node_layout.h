// SPDX-License-Identifier: Apache-2.0
//
// Where a node of the autograd graph has its number and the thread that made it. Versions of PyTorch differ, so it is
// found by looking: the words that, over the first nodes, are always a pair that was noted when a node was made.
#ifndef INTERPOSE_FRAMEWORKS_TORCH_GRAPH_NODE_LAYOUT_H_
#define INTERPOSE_FRAMEWORKS_TORCH_GRAPH_NODE_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/frameworks/torch/graph/graph_rings.h"

namespace vramtrack::torch {

// Of nodes without a number: gradient accumulators, and the root of a graph.
constexpr uint64_t kNoNumber = ~uint64_t{0};

// Zeroed memory knows nothing yet. Thread-safe; nobody waits.
class NodeLayout {
 public:
  bool known() const { return number_word_.load(std::memory_order_acquire) != 0; }
  bool given_up() const { return rounds_ == kMaxRounds; }

  // `node` is about to be evaluated: one more to learn from. True if that makes the layout known, or hopeless.
  // `*later`: a number by which the node's origin can be told later; the number that the node got before where it is
  // one of those already, and 0 where it is not kept in mind.
  bool Learn(const void* node, const GraphRings& rings, uint32_t* later);

  struct Origin {
    uint64_t thread, number;
  };
  // Once the layout is known, by the thread that has just learnt it: visit(later, origin) for each node that it was
  // learnt from.
  template <typename Visit>
  void ForEachLearntFrom(Visit visit) {
    const size_t number = number_word_.load(std::memory_order_acquire);
    const size_t thread = Best(thread_words_.load(std::memory_order_relaxed));
    for (uint32_t i = 0; i < learnt_from_; ++i) visit(later_[i], Origin{words_[i][thread], words_[i][number]});
  }
  // Of a node that is about to be evaluated, once the layout is known.
  Origin OriginOf(const void* node, const GraphRings& rings) {
    const auto* words = static_cast<const uint64_t*>(node);
    const uint64_t number = words[number_word_.load(std::memory_order_acquire)];
    uint32_t candidates = thread_words_.load(std::memory_order_relaxed);
    if (__builtin_expect((candidates & (candidates - 1)) != 0, 0) && number != kNoNumber) {
      candidates = Refine(words, number, candidates, rings);
    }
    return {words[Best(candidates)], number};
  }

 private:
  // A node is larger than the first, and smaller than a page.
  static constexpr size_t kWords = 32, kNodes = 48, kPageBytes = 4096;
  static constexpr size_t kCommonWords = 8;  // of every node, the number among them
  static constexpr uint32_t kMaxRounds = 8;
  static constexpr uint64_t kMaxThread = 1 << 16;

  // From the first `nodes`; of these so many must have no number.
  void Choose(const GraphRings& rings, size_t nodes, size_t least_without);
  uint32_t Refine(const uint64_t* words, uint64_t number, uint32_t candidates, const GraphRings& rings);
  // Of several: PyTorch has always had the number, the height, a flag that most nodes have set, and the thread in this
  // order, and a count of references before them.
  size_t Best(uint32_t candidates) const {
    const uint32_t near = candidates & 0x1eu << number_word_.load(std::memory_order_relaxed);
    return static_cast<size_t>(31 - __builtin_clz(near != 0 ? near : candidates));
  }

  std::atomic<uint32_t> number_word_;   // 0: not known
  std::atomic<uint32_t> thread_words_;  // a bit for each that may be it
  SpinLock lock_;
  uint32_t rounds_, looked_, learnt_from_;
  uint32_t later_[kNodes];
  const void* nodes_[kNodes];
  uint64_t words_[kNodes][kWords];
};

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_GRAPH_NODE_LAYOUT_H_
