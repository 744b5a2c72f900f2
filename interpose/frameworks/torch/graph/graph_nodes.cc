// SPDX-License-Identifier: Apache-2.0
#include "interpose/frameworks/torch/graph/graph_nodes.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

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

bool NodeLayout::Learn(const void* node, const GraphRings& rings, uint32_t* later) {
  const uint32_t fresh = *later;
  *later = 0;
  // What is read may lie after the node, but not where nothing may be.
  const uint64_t next_page = (reinterpret_cast<uint64_t>(node) / kPageBytes + 1) * kPageBytes;
  const bool within = reinterpret_cast<uint64_t>(node) + sizeof words_[0] <= next_page;
  if (!within && !IsReadable(next_page)) return false;
  if (!lock_.TryLock()) return false;
  bool decided = false;
  bool seen = known() || given_up();
  // Of a graph that is kept. A node of the next step's graph may be where one of this step's was, with another number.
  for (uint32_t i = 0; i < looked_ && !seen; ++i) {
    seen = nodes_[i] == node && std::memcmp(words_[i], node, kCommonWords * sizeof(uint64_t)) == 0;
    if (seen) *later = later_[i];
  }
  if (!seen) {
    nodes_[looked_] = node;
    later_[looked_] = *later = fresh;
    std::memcpy(words_[looked_], node, sizeof words_[0]);
    // Nodes without a number are easily recognized: with some of these, few others are enough. A test may have no more.
    constexpr size_t kLeastWithout = 2;
    const bool all = ++looked_ == kNodes;
    if (all || looked_ == kNodes / 6 || looked_ == kNodes / 3) {
      Choose(rings, looked_, all ? 0 : kLeastWithout);
      if (known()) learnt_from_ = looked_;
      // The first nodes may have been made before anything was noted.
      if (all && !known()) ++rounds_;
      if (all || known()) looked_ = 0;
      decided = known() || given_up();
    }
  }
  lock_.Unlock();
  return decided;
}

// The number's word is, over all nodes, none or a number that was noted, and never one twice. The height of a node
// above the leaves looks like that too, but a leaf has a height and no number.
void NodeLayout::Choose(const GraphRings& rings, size_t nodes, size_t least_without) {
  size_t best = 0, best_without = 0;
  uint32_t best_threads = 0;
  for (size_t s = 1; s < kWords; ++s) {
    size_t without = 0;
    for (size_t i = 0; i < nodes; ++i) without += words_[i][s] == kNoNumber;
    if (without < least_without || without > nodes * 3 / 4 || (best != 0 && without <= best_without)) continue;
    uint32_t threads = 0;
    for (size_t t = 1; t < kWords; ++t) {
      bool fits = t != s;
      for (size_t i = 0; i < nodes && fits; ++i) {
        const uint64_t number = words_[i][s], thread = words_[i][t];
        if (number == kNoNumber) continue;
        const GraphRing* ring = thread == 0 || thread >= kMaxThread ? nullptr : rings.Of(thread);
        fits = ring != nullptr && ring->Has(number);
        for (size_t j = 0; j < i && fits; ++j) fits = words_[j][s] != number || words_[j][t] != thread;
      }
      if (fits) threads |= uint32_t{1} << t;
    }
    if (threads == 0) continue;
    best = s;
    best_without = without;
    best_threads = threads;
  }
  if (best == 0) return;
  thread_words_.store(best_threads, std::memory_order_relaxed);
  number_word_.store(static_cast<uint32_t>(best), std::memory_order_release);
}

// As long as there was only one thread, any word that is 1 in every node may be its number. One that names a node that
// was never made, or that is another one, is not.
uint32_t NodeLayout::Refine(const uint64_t* words, uint64_t number, uint32_t candidates, const GraphRings& rings) {
  uint32_t left = 0;
  for (uint32_t rest = candidates; rest != 0; rest &= rest - 1) {
    const uint64_t thread = words[__builtin_ctz(rest)];
    GraphRing* ring = thread == 0 || thread >= kMaxThread ? nullptr : rings.Of(thread);
    if (ring != nullptr && ring->Has(number) && ring->Claim(number, reinterpret_cast<uint64_t>(words))) {
      left |= rest & -rest;
    }
  }
  // A node that is not known at all says nothing.
  if (left == 0 || left == candidates) return candidates;
  thread_words_.fetch_and(left, std::memory_order_relaxed);
  return left;
}

__thread GraphNodes::OwnRing GraphNodes::own_ __attribute__((tls_model("initial-exec")));

GraphRing* GraphNodes::TakeOwn() {
  uint64_t (*const current_thread)() = current_thread_.load(std::memory_order_relaxed);
  own_ = {this, rings_.Take(current_thread(), ThreadId())};
  return own_.ring;
}

GraphNodes::Learnt GraphNodes::Begin(const void* node, uint64_t frame, uint64_t python_frame, uint32_t later) {
  GraphRing* ring = Own();
  if (ring == nullptr || BeginKnown(node, frame, python_frame)) return Learnt::kNothing;
  Learnt learnt = Learnt::kNothing;
  if (layout_.Learn(node, rings_, &later)) learnt = layout_.known() ? Learnt::kLayout : Learnt::kHopeless;
  if (BeginKnown(node, frame, python_frame)) return learnt;
  if (GraphRing::Evaluation* evaluation = ring->Push(frame)) {
    *evaluation = {frame, python_frame, 0, 0, later, later == 0 ? schema::NODE_NONE : schema::NODE_FUNCTION};
  }
  return learnt;
}

__attribute__((noinline)) void GraphNodes::LookUp(GraphRing::Evaluation* evaluation) const {
  const GraphRing* makers = rings_.Of(evaluation->maker);
  evaluation->stack = makers == nullptr ? 0 : makers->StackOf(evaluation->number);
  evaluation->maker = 0;
}

void GraphNodes::Abandon() {
  if (own_.ring != nullptr) own_.ring->Pop();
}

}  // namespace vramtrack::torch
