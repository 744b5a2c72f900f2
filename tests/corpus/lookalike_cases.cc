// SPDX-License-Identifier: Apache-2.0
//
// What looks like a leak and is none.
#include <optional>
#include <utility>

#include "tests/corpus/cases.h"

namespace vramtrack::corpus {
namespace {

Flow Blocks(uint64_t low, uint64_t high) { return Flow::Blocks().Bytes(low, high); }
Flow Blocks(uint64_t bytes) { return Flow::Blocks().Bytes(bytes); }
Flow Driver(uint64_t bytes) { return Flow::Of(schema::DEVICE).Bytes(bytes); }
Flow Handles(schema::Kind kind) { return Flow::Of(kind).Bytes(0); }

Case Lookalike(const char* id, const char* group, const char* what, std::vector<Flow> flows,
               std::vector<std::string> right, JobShape shape = {}) {
  Case one;
  one.id = id;
  one.group = group;
  one.what = what;
  one.lookalike = true;
  one.flows = std::move(flows);
  one.right = std::move(right);
  one.shape = shape;
  return one;
}

JobShape VariedLengths() {
  JobShape shape;
  shape.length_spread = .6;
  return shape;
}

JobShape Curriculum() {
  JobShape shape;
  shape.curriculum = true;
  return shape;
}

// What the job would free in its step outlives it until the next one of its site is there.
Flow Outliving(Role role) {
  Flow flow;
  flow.role = role;
  return flow.Lives(Life::kReplaced);
}

JobShape SecondBackward() {
  JobShape shape;
  shape.second_backward_larger = true;
  return shape;
}

}  // namespace

std::vector<Case> LookalikeCases() {
  std::vector<Case> cases = {
      Lookalike("L1", "once", "cuBLAS's workspace", {Driver(8519680).Once(2)}, {"one_time"}),
      Lookalike("L2", "once", "more is live after the second backward pass, then no more",
                {Blocks(32 * kMiB).Once(1).In(Look::kBackward).On(1).At(Place::kBackward)}, {"one_time"},
                SecondBackward()),
      Lookalike("L6", "once", "communicators come and go, 50 MiB stay from the first",
                {Driver(50 * kMiB).Once(2), Handles(schema::COMMUNICATOR).Every(3).Lives(Life::kStep)},
                {"one_time", "steady"}),
      Lookalike("L9", "once", "a static key-value cache", {Blocks(4 * kMiB).Sites(2).Count(16, 16).Once(3)},
                {"one_time"}),
      Lookalike("L16", "once", "the optimizer's state of the first step", {Blocks(8 * kMiB).Sites(20).Once(1)},
                {"one_time"}),
      Lookalike("L17", "once", "buckets are built in the first step and again in the second",
                {Blocks(25 * kMiB).Sites(3).Until(.03).Lives(Life::kReplaced)}, {"one_time", "steady"}),
      Lookalike("L3", "garbage", "cycles live until a collector runs", {Blocks(100 * kMiB).Lives(Life::kCollector, 16)},
                {"cycle_garbage"}),
      Lookalike("L4", "garbage", "freed blocks wait for another stream",
                {Blocks(16 * kMiB).Lives(Life::kStep).Deferred(8)}, {"steady"}),
      Lookalike("L5", "cache", "a cache of plans", {Handles(schema::FFT_PLAN).Novel(64), Driver(2 * kMiB).Novel(64)},
                {"sublinear", "one_time"}),
      Lookalike("L12", "cache", "an arena that doubles", {Driver(32 * kMiB).Doubling().Growing(1)},
                {"sublinear", "one_time", "insufficient_evidence"}),
      Lookalike("L19", "cache", "a cache of 32 with turnover", {Blocks(2 * kMiB).Chance(.7).Lives(Life::kCapacity, 32)},
                {"steady", "sublinear", "insufficient_evidence"}),
      Lookalike("L7", "phase", "predictions are kept until the phase of 25 steps ends",
                {Blocks(512 * kKiB, 2 * kMiB).At(Place::kEnd).Lives(Life::kPhase, 25)}, {"phase_accumulation"}),
      Lookalike("L10", "phase", "a key-value cache grows within a call of 32 steps",
                {Blocks(kMiB).Sites(2).Lives(Life::kPhase, 32)}, {"phase_accumulation"}),
      Lookalike("L15", "phase", "casts are cached within a context of 10 steps",
                {Blocks(4 * kMiB).Sites(4).Lives(Life::kPhase, 10)}, {"phase_accumulation"}),
      Lookalike("L21", "buffer", "running averages are replaced by new ones of their size",
                {Blocks(8 * kMiB).Sites(4).At(Place::kEnd).Lives(Life::kReplaced)}, {"steady", "one_time"}),
      Lookalike("L22", "buffer", "a buffer for the longest batch so far",
                {Blocks(4 * kMiB).Growing(.3).Records().Lives(Life::kReplaced)},
                {"steady", "one_time", "sublinear", "insufficient_evidence"}),
      Lookalike("L23", "buffer", "a buffer that grows until a quarter of the run is over",
                {Blocks(kMiB).Growing(1).Until(.25).Lives(Life::kReplaced)}, {"one_time", "sublinear", "steady"}),
      Lookalike("L24", "buffer", "results of varying size outlive their step",
                {Blocks(kMiB, 16 * kMiB).Sites(3).Lives(Life::kReplaced)}, {"steady"}),
      Lookalike("L25", "buffer", "lengths grow, and the last activations outlive their step", {Outliving(Role::kSaved)},
                {"steady", "sublinear", "insufficient_evidence"}, Curriculum()),
      Lookalike("L11", "shape", "lengths vary: what is reserved climbs in stairs", {}, {}, VariedLengths()),
      Lookalike("L20", "shape", "lengths grow: peaks climb, survivors do not", {}, {}, Curriculum()),
  };
  // Whether what is reserved has settled when a run ends is a matter of its length.
  for (Case& one : cases) {
    if (one.shape.length_spread > 0) one.reserve_grows = std::nullopt;
  }
  return cases;
}

}  // namespace vramtrack::corpus
