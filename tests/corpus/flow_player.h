// SPDX-License-Identifier: Apache-2.0
//
// Plays the flows of a case into the stream of its job, and keeps the account of what they leaked.
#ifndef TESTS_CORPUS_FLOW_PLAYER_H_
#define TESTS_CORPUS_FLOW_PLAYER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "analyzer/leaks/testing/families.h"
#include "tests/corpus/flow.h"
#include "tests/corpus/job_stream.h"

namespace vramtrack::corpus {

// Bytes and objects of one site that were born in one step and are never freed.
struct StepLeak {
  double bytes = 0, objects = 0;
};

// Thread-compatible.
class FlowPlayer {
 public:
  // `steps`: of the whole run, which shares of it refer to. Flows and stream must outlive it.
  FlowPlayer(const std::vector<Flow>& flows, JobStream* stream, int steps, uint64_t seed);

  // The job is at `place` of `step`; at the end the step's deaths come about.
  void Reach(Place place, int step);
  // The batch of the present step is longer than all before.
  void NoteRecord() { record_ = true; }
  // The job is about to free `object`. True if a flow keeps it: the job must not free it then.
  bool Takes(const Object& object, Role role, int step);

  // By site and step; only of flows that leak.
  const std::map<uint32_t, std::map<int, StepLeak>>& leaked() const { return leaked_; }
  // The step from which on a site of leaked() leaks, though the first object may come later.
  int BeginOf(uint32_t site) const { return begins_.at(site); }
  // The sites of flows that leak; of a case without a leak, those of all its flows.
  const std::vector<uint32_t>& watched() const { return watched_; }
  // Those of them whose blocks are freed while the segments of their pools stay.
  const std::vector<uint32_t>& watched_segments() const { return watched_segments_; }

 private:
  struct State {
    const Flow* flow = nullptr;
    std::vector<uint32_t> sites;
    std::vector<bool> seen;                       // keys
    std::vector<double> key_weights;              // summed up
    std::map<uint32_t, std::deque<Object>> held;  // of capacity and replacement
    std::map<uint32_t, uint64_t> freed;           // of the job's sites
    int occurrences = 0, next_collection = 0;
    std::vector<std::vector<SyntheticObject>> family_births;  // by step
  };

  bool Occurs(State* state, int step);
  void Bear(State* state, int step);
  void Keep(State* state, const Object& object, int step);
  void Die(const Object& object, const Flow& flow, int step);
  void Grown(const Flow& flow, const Object& object, const Object& replaced, int step);
  void Leaked(const Flow& flow, const Object& object, int step);
  double Uniform(double low = 0, double high = 1) { return std::uniform_real_distribution<double>(low, high)(random_); }
  int Between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  JobStream& stream_;
  const int steps_;
  std::mt19937_64 random_;
  std::vector<State> states_;
  std::map<int, std::vector<std::pair<Object, const Flow*>>> deaths_;  // by step
  std::map<int, std::vector<Object>> recycled_;                        // by step
  std::map<uint32_t, std::map<int, StepLeak>> leaked_;
  std::map<uint32_t, int> begins_;  // by site
  std::vector<uint32_t> watched_, watched_segments_;
  uint32_t pools_ = 0;
  bool record_ = false;
};

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_FLOW_PLAYER_H_
