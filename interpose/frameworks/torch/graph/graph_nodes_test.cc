// SPDX-License-Identifier: Apache-2.0
//
// Tests the link from an evaluated node to the call that made it, with artificial nodes.
#include "interpose/frameworks/torch/graph/graph_nodes.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "interpose/base/system_call.h"

namespace vramtrack::torch {
namespace {

// Never freed, as a session is not.
template <typename T>
struct Mapped {
  T* const at = static_cast<T*>(MapPrivate(sizeof(T)));
  T* operator->() const { return at; }
};

thread_local uint64_t this_thread = 1;
uint64_t CurrentThread() { return this_thread; }

// As PyTorch lays a node out: a table of functions, from 2.9 on a count of references, and somewhere behind that the
// number, the height above the leaves, a flag and the thread.
struct alignas(4096) Node {
  uint64_t words[64];
};

class GraphNodesTest : public ::testing::TestWithParam<size_t> {
 protected:
  static constexpr uint64_t kAccumulator = ~uint64_t{0};

  GraphNodesTest() { graph_->Follow(CurrentThread); }

  Node* Make(uint64_t number, uint64_t height, uint64_t thread) {
    nodes_.push_back(std::make_unique<Node>());
    uint64_t* words = nodes_.back()->words;
    words[0] = 0x7f0000001000;
    words[1] = 1;
    words[GetParam()] = number;
    words[GetParam() + 1] = height;
    words[GetParam() + 2] = 1;
    words[GetParam() + 3] = thread;
    return nodes_.back().get();
  }

  CurrentNode Evaluate(const Node* node) {
    char frame;
    EXPECT_NE(graph_->Begin(node, Frame(&frame), 0, ++later_), GraphNodes::Learnt::kHopeless);
    const CurrentNode current = Current();
    GraphNodes::End(Frame(&frame));
    EXPECT_EQ(Current().kind, schema::NODE_NONE);
    return current;
  }
  // As a hook that is called during the evaluation.
  __attribute__((noinline)) CurrentNode Current() {
    const CurrentNode current = graph_->Current();
    __asm__ volatile("");  // no tail call
    return current;
  }
  static uint64_t Frame(const char* at) { return reinterpret_cast<uint64_t>(at) + 64; }

  // A chain of nodes, whose heights look like numbers too, with an accumulator at its end.
  void Learn(uint64_t first) {
    for (uint64_t i = 0; i < 60; ++i) graph_->Made(first + i, 1000 + static_cast<uint32_t>(i));
    for (uint64_t i = 60; i-- > 1;) Evaluate(Make(first + i, i, this_thread));
    Evaluate(Make(kAccumulator, 0, this_thread));
    for (uint64_t i = 60; i-- > 1;) Evaluate(Make(first + i, i, this_thread));
  }

  Mapped<GraphNodes> graph_;
  uint32_t later_ = 1000000;  // numbers for stacks that are not known yet
  std::vector<std::unique_ptr<Node>> nodes_;
};

TEST_P(GraphNodesTest, FindsTheCallThatMadeANode) {
  Learn(1);
  graph_->Made(100, 7);
  const CurrentNode function = Evaluate(Make(100, 3, 1));
  EXPECT_EQ(function.kind, schema::NODE_FUNCTION);
  EXPECT_EQ(function.forward, 7u);
  const CurrentNode accumulator = Evaluate(Make(kAccumulator, 0, 1));
  EXPECT_EQ(accumulator.kind, schema::NODE_ACCUMULATE);
  EXPECT_EQ(accumulator.forward, 0u);
  EXPECT_EQ(Evaluate(Make(101, 3, 1)).forward, 0u) << "never made";
}

// As the first backward pass of a job meets them: the callers of the first nodes are told when the layout is known.
TEST_P(GraphNodesTest, TellsLaterWhoMadeTheFirstNodes) {
  for (uint64_t i = 1; i <= 60; ++i) graph_->Made(i, 1000 + static_cast<uint32_t>(i));
  std::map<uint32_t, uint64_t> number_of;  // by the number that stands for the stack until it is known
  auto learnt = GraphNodes::Learnt::kNothing;
  for (uint64_t i = 60; learnt == GraphNodes::Learnt::kNothing; --i) {
    ASSERT_GT(i, 2u);
    const uint64_t number = i % 4 == 0 ? kAccumulator : i;
    char frame;
    learnt = graph_->Begin(Make(number, number == kAccumulator ? 0 : i, 1), Frame(&frame), 0, ++later_);
    const CurrentNode current = Current();
    if (learnt == GraphNodes::Learnt::kNothing) {
      EXPECT_EQ(current.forward, later_);
      EXPECT_EQ(current.kind, schema::NODE_FUNCTION);
    }
    number_of[later_] = number;
    GraphNodes::End(Frame(&frame));
  }
  ASSERT_EQ(learnt, GraphNodes::Learnt::kLayout);
  EXPECT_LE(number_of.size(), 16u) << "nodes without a number make it easy";
  size_t told = 0;
  graph_->ForEachLearntFrom([&](uint32_t later, uint32_t stack, schema::GraphNode kind) {
    ++told;
    const uint64_t number = number_of.at(later);
    EXPECT_EQ(kind, number == kAccumulator ? schema::NODE_ACCUMULATE : schema::NODE_FUNCTION);
    EXPECT_EQ(stack, number == kAccumulator ? 0 : 1000 + number);
  });
  EXPECT_EQ(told, number_of.size());
}

// Where a heap ends, nothing may lie behind a node.
TEST_P(GraphNodesTest, LearnsFromNodesThatCrossAPageUnlessMemoryEndsThere) {
  constexpr size_t kPage = 4096, kNodeBytes = 128;
  auto* pages = static_cast<char*>(MapPrivate(3 * kPage));
  ASSERT_NE(pages, nullptr);
  Unmap(pages + 2 * kPage, kPage);
  const Node* model = Make(5, 3, 1);
  graph_->Made(5, 7);
  for (const size_t page : {1, 2}) {
    char* const at = pages + page * kPage - kNodeBytes;
    std::copy_n(reinterpret_cast<const char*>(model), kNodeBytes, at);
    const CurrentNode current = Evaluate(reinterpret_cast<const Node*>(at));
    EXPECT_EQ(current.forward, page == 1 ? later_ : 0);
  }
  Unmap(pages, 2 * kPage);
}

TEST_P(GraphNodesTest, LearnsFromSmallGraphsWhoseNodesTakeEachOthersPlaces) {
  // Seven functions and an accumulator a step, always at the same addresses.
  std::vector<Node*> places;
  for (int i = 0; i < 8; ++i) places.push_back(Make(0, 0, 1));
  uint64_t number = 1;
  for (int step = 0; step < 20; ++step) {
    for (uint64_t i = 0; i < 7; ++i) graph_->Made(number + i, 500 + static_cast<uint32_t>(number + i));
    for (uint64_t i = 7; i-- > 0;) {
      places[i]->words[GetParam()] = number + i;
      places[i]->words[GetParam() + 1] = i + 1;
      Evaluate(places[i]);
    }
    places[7]->words[GetParam()] = kAccumulator;
    Evaluate(places[7]);
    number += 7;
  }
  EXPECT_EQ(Evaluate(Make(number - 2, 3, 1)).forward, 500 + number - 2);
}

TEST_P(GraphNodesTest, TellsThreadsApartThatCountAlike) {
  Learn(1);
  std::thread([&] {
    this_thread = 2;
    for (uint64_t i = 1; i < 60; ++i) graph_->Made(i, 5000 + static_cast<uint32_t>(i));
  }).join();
  EXPECT_EQ(Evaluate(Make(30, 3, 2)).forward, 5030u);
  EXPECT_EQ(Evaluate(Make(31, 3, 1)).forward, 1030u);
}

TEST_P(GraphNodesTest, OldNodesAreForgottenNotMixedUp) {
  Learn(1);
  constexpr uint64_t kMany = 3 * GraphRing::kNodes;
  for (uint64_t number = 100; number < 100 + kMany; ++number) graph_->Made(number, static_cast<uint32_t>(number));
  EXPECT_EQ(Evaluate(Make(99 + kMany, 3, 1)).forward, 99 + kMany);
  EXPECT_EQ(Evaluate(Make(100 + kMany - GraphRing::kNodes, 3, 1)).forward, 100 + kMany - GraphRing::kNodes);
  EXPECT_EQ(Evaluate(Make(99 + kMany - GraphRing::kNodes, 3, 1)).forward, 0u);
  EXPECT_EQ(Evaluate(Make(50, 3, 1)).forward, 0u);
}

TEST_P(GraphNodesTest, NestsAndSurvivesWhatNeverReturned) {
  Learn(1);
  char frames[4096];
  graph_->Begin(Make(10, 1, 1), Frame(frames + 4000), 0, 0);
  graph_->Begin(Make(20, 1, 1), Frame(frames + 3000), 0, 0);
  EXPECT_EQ(Current().forward, 1019u);
  GraphNodes::Abandon();
  EXPECT_EQ(Current().forward, 1009u);
  graph_->Begin(Make(20, 1, 1), Frame(frames + 3000), 0, 0);
  // Left by longjmp, and the outer one began another.
  graph_->Begin(Make(30, 1, 1), Frame(frames + 3500), 0, 0);
  EXPECT_EQ(Current().forward, 1029u);
  GraphNodes::End(Frame(frames + 3500));
  EXPECT_EQ(Current().forward, 1009u);
  GraphNodes::End(Frame(frames + 4000));
  EXPECT_EQ(Current().kind, schema::NODE_NONE);
}

TEST_P(GraphNodesTest, GivesUpOnNodesThatAreNone) {
  bool going = true;
  size_t looked = 0;
  graph_->Made(1, 1);
  char frame;
  for (; going && looked < 10000; ++looked) {
    const Node* node = Make(1000000 + looked, 0, 77);
    going = graph_->Begin(node, Frame(&frame), 0, 0) != GraphNodes::Learnt::kHopeless;
    EXPECT_EQ(Current().kind, schema::NODE_NONE);
    GraphNodes::End(Frame(&frame));
  }
  EXPECT_FALSE(going);
  EXPECT_LT(looked, 1000u);
  EXPECT_EQ(graph_->Begin(Make(1, 0, 1), Frame(&frame), 0, 0), GraphNodes::Learnt::kNothing) << "said once";
}

INSTANTIATE_TEST_SUITE_P(Layouts, GraphNodesTest, ::testing::Values(2, 3, 4));

TEST(GraphRingsTest, AnEndedThreadsRingIsKeptUntilItsPlaceIsNeeded) {
  Mapped<GraphRings> rings;
  uint64_t next = 1;
  const auto run = [&](uint64_t thread) {
    std::thread([&] {
      GraphRing* ring = rings->Take(thread, ThreadId());
      ASSERT_NE(ring, nullptr);
      EXPECT_FALSE(ring->Has(5)) << "the former owner's";
      ring->Put(5, static_cast<uint32_t>(thread));
    }).join();
  };
  for (; next <= 100; ++next) run(next);
  ASSERT_NE(rings->Of(1), nullptr);
  EXPECT_EQ(rings->Of(1)->StackOf(5), 1u);
  for (; next <= 3000; ++next) run(next);
  EXPECT_EQ(rings->Of(1), nullptr);
  ASSERT_NE(rings->Of(3000), nullptr);
  EXPECT_EQ(rings->Of(3000)->StackOf(5), 3000u);
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 200 << 10) << "KiB";
}

TEST(GraphRingsTest, ALivingThreadsRingIsNotTaken) {
  Mapped<GraphRings> rings;
  GraphRing* mine = rings->Take(1, ThreadId());
  mine->Put(5, 1);
  for (uint64_t thread = 257; thread < 257 + 2560; thread += 256) {
    std::thread([&] { rings->Take(thread, ThreadId()); }).join();
  }
  EXPECT_EQ(rings->Of(1), mine);
  EXPECT_EQ(mine->StackOf(5), 1u);
}

}  // namespace
}  // namespace vramtrack::torch
