// SPDX-License-Identifier: Apache-2.0
//
// Attributes allocations of the backward pass to the Python line of the forward pass that made the graph node. Every
// node takes a number in its constructor, and one function of the engine evaluates every node. See docs/pytorch.md.
#ifndef INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_NODES_H_
#define INTERPOSE_FRAMEWORKS_TORCH_GRAPH_GRAPH_NODES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "proto/schema_constants.h"

namespace vramtrack::torch {

// The autograd graph nodes of one thread: those that it made, and those that it is evaluating.
//
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
    uint64_t maker;         // the thread that made the node; 0 once `stack` is looked up
    uint64_t number;        // of the node, among those of its maker
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
  Evaluation* Innermost() { return depth_ == 0 ? nullptr : &evaluations_[depth_ - 1]; }

  // PyTorch's number for the owning thread; 0 while the ring has no owner.
  std::atomic<uint64_t> owner{0};
  std::atomic<uint32_t> system_thread{0};
  bool has_made = false;  // nodes; used by the owner only

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

  // Whether more than one thread has made nodes, or one took over the ring of another.
  bool several_makers() const { return makers_.load(std::memory_order_relaxed) > 1; }
  void NoteMaker() { makers_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr size_t kRings = 256;  // at most 4.2 MB each, if the thread makes kNodes nodes
  static constexpr size_t kProbes = 8;

  SpinLock lock_;
  std::atomic<uint32_t> makers_;
  std::atomic<GraphRing*> rings_[kRings];
};

// The number of nodes without one: gradient accumulators and the root of a graph.
constexpr uint64_t kNoNumber = ~uint64_t{0};

// Finds the words of an autograd graph node that hold its number and the thread that made it. Their positions differ
// between versions of PyTorch. They are inferred from the first nodes: in every node the two words must be a pair that
// was recorded when a node was made. Zeroed memory is an unknown layout. Thread-safe; no call waits for another thread.
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
    // While one thread makes all nodes, the words that may hold its number are the same in each.
    if ((candidates & (candidates - 1)) != 0 && number != kNoNumber && rings.several_makers()) {
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

  // Chooses the words from the first `nodes` nodes. At least `least_without` of these must have no number.
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
    GraphRing* ring = Own();
    if (ring == nullptr) return;
    if (__builtin_expect(!ring->has_made, 0)) {
      ring->has_made = true;
      rings_.NoteMaker();
    }
    ring->Put(number, stack);
  }

  // Returns whether the calling thread has made a node before.
  bool has_made() const { return own_.of == this && own_.ring != nullptr && own_.ring->has_made; }

  bool layout_known() const { return layout_.known(); }

  // Records that the calling thread is about to evaluate `node`; `frame` is the stack address of the hook. Returns
  // false if Begin has to be called instead, as for a thread's first node. Has no effect then. Looking up who made the
  // node is left to Current: most nodes allocate nothing.
  bool BeginKnown(const void* node, uint64_t frame, uint64_t python_frame) {
    if (own_.of != this || own_.ring == nullptr || !layout_.known()) return false;
    if (GraphRing::Evaluation* evaluation = own_.ring->Push(frame)) {
      const NodeLayout::Origin origin = layout_.OriginOf(node, rings_);
      const bool function = origin.number != kNoNumber;
      const auto kind = function ? schema::NODE_FUNCTION : schema::NODE_ACCUMULATE;
      *evaluation = {frame, python_frame, function ? origin.thread : 0, origin.number, 0, kind};
    }
    return true;
  }

  enum class Learnt { kNothing, kLayout, kHopeless };
  // Does the same in all cases. Returns kLayout if this call made the layout of nodes known, and kHopeless if this call
  // decided that it cannot be found. `later` is used while the layout is unknown: a reserved stack number that stands
  // for the node's forward call until ForEachLearntFrom reports the stack.
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
  static void End(uint64_t frame) {
    if (own_.ring != nullptr) own_.ring->Drop(frame + 1);
  }
  // Records that an exception leaves the innermost evaluation of the calling thread.
  static void Abandon();

  // Returns the innermost node that the calling thread is evaluating; its kind is NODE_NONE if there is none. To be
  // inlined into a function that is called during the evaluation: its frame tells what longjmp has left.
  __attribute__((always_inline)) CurrentNode Current() {
    if (own_.of != this || own_.ring == nullptr || own_.ring->Innermost() == nullptr) return {};
    // What was left by longjmp lies further in than we are.
    own_.ring->Drop(reinterpret_cast<uint64_t>(__builtin_frame_address(0)));
    GraphRing::Evaluation* evaluation = own_.ring->Innermost();
    if (__builtin_expect(evaluation == nullptr, 0)) return {};
    if (evaluation->maker != 0) LookUp(evaluation);
    return {evaluation->kind, evaluation->stack, evaluation->python_frame};
  }

 private:
  GraphRing* Own() {
    if (__builtin_expect(own_.of == this, 1)) return own_.ring;
    return TakeOwn();
  }
  __attribute__((cold)) GraphRing* TakeOwn();
  void LookUp(GraphRing::Evaluation* evaluation) const;

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
