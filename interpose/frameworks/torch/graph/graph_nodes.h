// SPDX-License-Identifier: Apache-2.0
//
// Ties what the backward pass allocates to the Python line of the forward pass that made the graph node: every node's
// constructor takes a number, and every node is evaluated by one function of the engine. docs/pytorch.md tells more.
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
  uint32_t forward = 0;       // stack of the forward call, 0 for not known
  uint64_t python_frame = 0;  // the thread's innermost one when the evaluation began
};

// Lives in zeroed memory; a forked child makes its own. Thread-safe, allocates nothing from the program's heap.
class GraphNodes {
 public:
  enum class State : uint32_t { kUnknown, kFollowing, kRefused };
  State state() const { return state_.load(std::memory_order_acquire); }
  // Before anything else. `current_thread`: at::RecordFunction::currentThreadId().
  void Follow(uint64_t (*current_thread)()) {
    current_thread_.store(current_thread, std::memory_order_relaxed);
    state_.store(State::kFollowing, std::memory_order_release);
  }
  // Nodes cannot be followed. True for the first to find that.
  bool Refuse() { return state_.exchange(State::kRefused) != State::kRefused; }

  // The calling thread has made a node; `stack`: of the forward call.
  void Made(uint64_t number, uint32_t stack) {
    if (GraphRing* ring = Own()) ring->Put(number, stack);
  }

  bool layout_known() const { return layout_.known(); }

  enum class Learnt { kNothing, kLayout, kHopeless };
  // The calling thread is about to evaluate `node`, in the hook's `frame`. Says whether that settles what the layout of
  // nodes is, or that it cannot be found. `later`: while it is not known, a number for a stack that is not known yet:
  // it stands for the forward call of the node until ForEachLearntFrom tells it.
  Learnt Begin(const void* node, uint64_t frame, uint64_t python_frame, uint32_t later);

  // After Begin has said kLayout: visit(later, stack of the forward call or 0, kind) for each node that it was learnt
  // from.
  template <typename Visit>
  void ForEachLearntFrom(Visit visit) {
    layout_.ForEachLearntFrom([&](uint32_t later, const NodeLayout::Origin& origin) {
      if (later == 0) return;
      if (origin.number == kNoNumber) return visit(later, 0u, schema::NODE_ACCUMULATE);
      const GraphRing* makers = rings_.Of(origin.thread);
      visit(later, makers == nullptr ? 0u : makers->StackOf(origin.number), schema::NODE_FUNCTION);
    });
  }

  // It has evaluated it. Not for one that it has left by an exception: see Abandon.
  static void End(uint64_t frame);
  // An exception leaves the innermost one.
  static void Abandon();

  CurrentNode Current();

 private:
  GraphRing* Own() {
    if (__builtin_expect(own_.of == this, 1)) return own_.ring;
    return TakeOwn();
  }
  GraphRing* TakeOwn();

  struct OwnRing {
    const GraphNodes* of;  // a forked child inherits its parent's
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
