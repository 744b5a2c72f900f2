// SPDX-License-Identifier: Apache-2.0
//
// Attributes allocations of the backward pass to the Python line of the forward pass that made the graph node. Every
// node takes a number in its constructor, and one function of the engine evaluates every node. See docs/pytorch.md.
#ifndef INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_NODES_H_
#define INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_NODES_H_

#include <atomic>
#include <cstdint>

#include "interpose/frameworks/torch/graph/graph_rings.h"
#include "interpose/frameworks/torch/graph/node_layout.h"
#include "proto/schema_constants.h"

namespace vramtrack::torch {

// The node that the calling thread is evaluating.
struct CurrentNode {
  schema::GraphNode kind = schema::NODE_NONE;
  uint32_t forward = 0;       // stack of the forward call, 0: unknown
  uint64_t python_frame = 0;  // the thread's innermost Python frame when the evaluation began
};

// The graph nodes of a process. Must be placed in zeroed memory; a forked child creates its own. Thread-safe; does not
// allocate from the program's heap.
class GraphNodes {
 public:
  enum class State : uint32_t { kUnknown, kFollowing, kRefused };
  State state() const { return state_.load(std::memory_order_acquire); }
  // Starts to follow nodes; call it before the functions below. `current_thread` is
  // at::RecordFunction::currentThreadId().
  void Follow(uint64_t (*current_thread)()) {
    current_thread_.store(current_thread, std::memory_order_relaxed);
    state_.store(State::kFollowing, std::memory_order_release);
  }
  // Notes that nodes cannot be followed. Returns true for the first call.
  bool Refuse() { return state_.exchange(State::kRefused) != State::kRefused; }

  // Records that the calling thread has made a node. `stack` is that of the forward call.
  void Made(uint64_t number, uint32_t stack) {
    if (GraphRing* ring = Own()) ring->Put(number, stack);
  }

  bool layout_known() const { return layout_.known(); }

  enum class Learnt { kNothing, kLayout, kHopeless };
  // Records that the calling thread is about to evaluate `node`; `frame` is the stack address of the hook. Returns
  // kLayout if this call made the layout of nodes known, and kHopeless if this call decided that it cannot be found.
  // `later` is used while the layout is unknown: a reserved stack number that stands for the node's forward call until
  // ForEachLearntFrom reports the stack.
  Learnt Begin(const void* node, uint64_t frame, uint64_t python_frame, uint32_t later);

  // Calls visit(later, stack of the forward call or 0, kind) for each node that the layout was learned from. Call it
  // once, after Begin has returned kLayout.
  template <typename Visit>
  void ForEachLearntFrom(Visit visit) {
    layout_.ForEachLearntFrom([&](uint32_t later, const NodeLayout::Origin& origin) {
      if (later == 0) return;
      if (origin.number == kNoNumber) return visit(later, 0u, schema::NODE_ACCUMULATE);
      const GraphRing* makers = rings_.Of(origin.thread);
      visit(later, makers == nullptr ? 0u : makers->StackOf(origin.number), schema::NODE_FUNCTION);
    });
  }

  // Records that the calling thread has evaluated the node. If an exception leaves the evaluation, call Abandon
  // instead.
  static void End(uint64_t frame);
  // Records that an exception leaves the innermost evaluation of the calling thread.
  static void Abandon();

  // Returns the innermost node that the calling thread is evaluating; its kind is NODE_NONE if there is none.
  CurrentNode Current();

 private:
  GraphRing* Own() {
    if (__builtin_expect(own_.of == this, 1)) return own_.ring;
    return TakeOwn();
  }
  GraphRing* TakeOwn();

  struct OwnRing {
    const GraphNodes* of;  // tells the ring from one inherited from the parent of a forked child
    GraphRing* ring;
  };
  static __thread OwnRing own_ __attribute__((tls_model("initial-exec")));

  std::atomic<State> state_;
  std::atomic<uint64_t (*)()> current_thread_;
  GraphRings rings_;
  NodeLayout layout_;
};

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_NODES_H_
