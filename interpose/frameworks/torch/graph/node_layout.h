// SPDX-License-Identifier: Apache-2.0
//
// Finds the words of an autograd graph node that hold its number and the thread that made it. Their positions differ
// between versions of PyTorch. They are inferred from the first nodes: in every node the two words must be a pair that
// was recorded when a node was made.
#ifndef INTERPOSE_FRAMEWORKS_TORCH_GRAPH_NODE_LAYOUT_H_
#define INTERPOSE_FRAMEWORKS_TORCH_GRAPH_NODE_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/frameworks/torch/graph/graph_rings.h"

namespace vramtrack::torch {

// The number of nodes without one: gradient accumulators and the root of a graph.
constexpr uint64_t kNoNumber = ~uint64_t{0};

// The layout of nodes. Zeroed memory is an unknown layout. Thread-safe; no call waits for another thread.
class NodeLayout {
 public:
  bool known() const { return number_word_.load(std::memory_order_acquire) != 0; }
  bool given_up() const { return rounds_ == kMaxRounds; }

  // Learns from `node`, which is about to be evaluated. Returns true if this call decided the question: the layout is
  // now known, or it cannot be found (given_up()). Pass in `*later` a number under which ForEachLearntFrom can report
  // the node's origin. Sets it to the number to use: the node's earlier one if the node was seen before, and 0 if the
  // node is not remembered.
  bool Learn(const void* node, const GraphRings& rings, uint32_t* later);

  // The thread that made a node, and the node's number.
  struct Origin {
    uint64_t thread, number;
  };
  // Calls visit(later, origin) for each node that the layout was learned from. Only the thread whose call of Learn made
  // the layout known may call this.
  template <typename Visit>
  void ForEachLearntFrom(Visit visit) {
    const size_t number = number_word_.load(std::memory_order_acquire);
    const size_t thread = Best(thread_words_.load(std::memory_order_relaxed));
    for (uint32_t i = 0; i < learnt_from_; ++i) visit(later_[i], Origin{words_[i][thread], words_[i][number]});
  }
  // Returns the origin of a node that is about to be evaluated. The layout must be known.
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
  // The first kWords words of a node are examined. They may extend past the node, into the next page.
  static constexpr size_t kWords = 32, kNodes = 48, kPageBytes = 4096;
  static constexpr size_t kCommonWords = 8;  // words at the start of every node, including the number
  static constexpr uint32_t kMaxRounds = 8;
  static constexpr uint64_t kMaxThread = 1 << 16;

  // Chooses the words from the first `nodes` nodes, of which at least `least_without` must have no number.
  void Choose(const GraphRings& rings, size_t nodes, size_t least_without);
  // Removes the candidates for the thread's word that a node contradicts.
  uint32_t Refine(const uint64_t* words, uint64_t number, uint32_t candidates, const GraphRings& rings);
  // Returns the most likely candidate. All versions of PyTorch have the number, the height, a flag that is set in most
  // nodes, and the thread in this order, with a reference count before them.
  size_t Best(uint32_t candidates) const {
    const uint32_t near = candidates & 0x1eu << number_word_.load(std::memory_order_relaxed);
    return static_cast<size_t>(31 - __builtin_clz(near != 0 ? near : candidates));
  }

  std::atomic<uint32_t> number_word_;   // 0: not known
  std::atomic<uint32_t> thread_words_;  // a bit for each word that may hold the thread
  SpinLock lock_;
  uint32_t rounds_, looked_, learnt_from_;
  uint32_t later_[kNodes];
  const void* nodes_[kNodes];
  uint64_t words_[kNodes][kWords];
};

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_GRAPH_NODE_LAYOUT_H_
