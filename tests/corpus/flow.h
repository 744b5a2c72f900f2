// SPDX-License-Identifier: Apache-2.0
//
// What a case does beside the work of its job, as data: when objects are born, how many and how large, and when they
// die. Everything that is known of a leak's mechanism is in these numbers; nothing else of a case reaches the trace.
#ifndef TESTS_CORPUS_FLOW_H_
#define TESTS_CORPUS_FLOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/schema_constants.h"
#include "tests/corpus/job_stream.h"

namespace vramtrack::corpus {

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;

// What the job itself allocates and frees, for flows that keep some of it.
enum class Role { kNone, kSaved, kGradient, kLoss, kBatch, kTemporary, kState };

enum class When {
  kEvery,     // each `period`-th step
  kChance,    // each step with `probability`
  kOnce,      // in step `period`
  kNovel,     // in steps whose key, one of `period` with Zipf's frequencies, was not seen before
  kRecord,    // in steps whose batch is longer than all before
  kDoubling,  // in steps 4, 8, 16, 32, ...
};

enum class Life {
  kStep,  // freed in the step of birth
  kForever,
  kPhase,      // until the end of the phase of `span` steps
  kCollector,  // until a collector runs: at distances of `span` steps, a half more or less
  kQueue,      // `span` steps, a half more or less
  kCapacity,   // until `span` younger ones are there
  kReplaced,   // until the next one of its site is there
};

enum class Place { kStart, kForward, kBackward, kEnd };

// The setters return the flow, so that a table can be written as one.
struct Flow {
  // Whose objects: those of its own sites, or those that the job would free.
  schema::Kind kind = schema::FRAMEWORK_BLOCK;
  Look look = Look::kForward;
  Role role = Role::kNone;  // kNone: of its own sites
  int only_site = -1;       // of the job's, by number; -1: all of the role
  uint32_t sites = 1, thread = 0;
  // When and how many.
  When when = When::kEvery;
  Place place = Place::kForward;
  int period = 1;
  double probability = 1;
  int low_count = 1, high_count = 1;
  double from = 0, until = 1;  // of the run
  // How large, and by how much an occurrence is larger than the first.
  uint64_t low_bytes = kMiB, high_bytes = kMiB;
  double growth = 0;
  // How long.
  Life life = Life::kForever;
  int span = 1;
  double kept = 0;        // share of the objects that live on all the same
  bool own_pool = false;  // each occurrence in a new pool of the framework's allocator
  int deferred = 0;       // steps that the allocator cannot use a freed block
  int family = -1;        // instead of all this: one of analyzer/leaks/testing/families.h
  // What is true of it.
  bool leaks = false;

  static Flow Of(schema::Kind kind) {
    Flow flow;
    flow.kind = kind;
    if (kind != schema::FRAMEWORK_BLOCK) flow.look = Look::kNative;
    return flow;
  }
  static Flow Blocks() { return Of(schema::FRAMEWORK_BLOCK); }
  static Flow Kept(Role role) {
    Flow flow;
    flow.role = role;
    return flow.Leak();
  }
  static Flow Family(int family) {
    Flow flow;
    flow.family = family;
    return flow;
  }
  Flow Bytes(uint64_t bytes) const { return Bytes(bytes, bytes); }
  Flow Bytes(uint64_t low, uint64_t high) const { return With(&Flow::low_bytes, low).With(&Flow::high_bytes, high); }
  Flow Growing(double share) const { return With(&Flow::growth, share); }
  Flow Sites(uint32_t count) const { return With(&Flow::sites, count); }
  Flow Site(int site) const { return With(&Flow::only_site, site); }
  Flow On(uint32_t of_thread) const { return With(&Flow::thread, of_thread); }
  Flow At(Place where) const { return With(&Flow::place, where); }
  Flow In(Look stack) const { return With(&Flow::look, stack); }
  Flow Count(int low, int high) const { return With(&Flow::low_count, low).With(&Flow::high_count, high); }
  Flow Every(int steps) const { return With(&Flow::when, When::kEvery).With(&Flow::period, steps); }
  Flow Once(int step) const { return With(&Flow::when, When::kOnce).With(&Flow::period, step); }
  Flow Novel(int keys) const { return With(&Flow::when, When::kNovel).With(&Flow::period, keys); }
  Flow Records() const { return With(&Flow::when, When::kRecord); }
  Flow Doubling() const { return With(&Flow::when, When::kDoubling); }
  Flow Chance(double share) const { return With(&Flow::when, When::kChance).With(&Flow::probability, share); }
  Flow From(double share) const { return With(&Flow::from, share); }
  Flow Until(double share) const { return With(&Flow::until, share); }
  Flow Lives(Life how, int steps = 1) const { return With(&Flow::life, how).With(&Flow::span, steps); }
  Flow Keeping(double share) const { return With(&Flow::kept, share); }
  Flow OwnPool() const { return With(&Flow::own_pool, true); }
  Flow Deferred(int steps) const { return With(&Flow::deferred, steps); }
  Flow Leak() const { return With(&Flow::leaks, true); }

 private:
  template <typename T>
  Flow With(T Flow::*member, T value) const {
    Flow flow = *this;
    flow.*member = value;
    return flow;
  }
};

// The work of the job; negative: drawn from the seed.
struct JobShape {
  bool training = true;       // with a framework's allocator; otherwise requests to a program without one
  double length_spread = -1;  // of the logarithm of batches' lengths
  bool curriculum = false;    // lengths grow up to eight times over 70 % of the run
  int accumulation = -1, evaluation_every = -1;
  bool second_backward_larger = false;
};

enum class Half { kTuning, kHeldOut };

struct Case {
  std::string id;     // C1 to C48, L1 to L25 or FL01 to FN14
  std::string group;  // mechanisms of one kind
  std::string what;   // the mechanism in a few words
  bool lookalike = false;
  std::vector<Flow> flows;  // of the leaky variant, or of the lookalike
  std::vector<Flow> fixed;  // what the job does once it is corrected; none for a lookalike
  // The verdicts that are right for the leaky variant, or for the lookalike, the best one first. A leak that is no
  // leak in the sense of a report (garbage of a collector, one-time) is a class to be told, and never ranked.
  std::vector<std::string> right;
  // Whether the leaky variant's allocator takes ever more segments without need, which is told of its device. None:
  // what is reserved may go either way.
  std::optional<bool> reserve_grows = false;
  JobShape shape;
  Half half = Half::kTuning;

  bool IsLeak() const;
};

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_FLOW_H_
