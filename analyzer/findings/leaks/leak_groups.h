// SPDX-License-Identifier: Apache-2.0
//
// Groups sites into leaks. One leak is one finding, however many lines allocate what it keeps: a graph that is never
// released keeps blocks of every layer, and an object that is never deleted keeps everything that its constructor
// allocated.
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_GROUPS_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/findings/leaks/leak_line.h"
#include "analyzer/findings/leaks/leak_order.h"

namespace vramtrack {

struct LeakGroup {
  size_t leader = 0;                 // index into ProcessAnalysis::groups()
  std::vector<size_t> parts;         // indices like `leader`, without it; largest rate first
  std::optional<size_t> call_frame;  // frame of the leader: the one call that leads to all sites, if there is one
};

// Returns the leaks of a process: joins those that have the same device and level, leave something in the same steps,
// and are related by their stacks or by the order of allocations and releases; docs/leak-verdicts.md has the rules.
// Every leaking group of sites is in exactly one result.
std::vector<LeakGroup> FindLeaks(ProcessAnalysis* analysis);

// How FindLeaks does it, in steps.
class LeakGrouping {
 public:
  // `analysis` must outlive it.
  explicit LeakGrouping(ProcessAnalysis* analysis);
  ~LeakGrouping();

  // Returns the leaks. Call it once.
  std::vector<LeakGroup> Find();

 private:
  struct Candidate;

  void TieByCalls();
  bool TiedByCall(const Candidate& a, const Candidate& b);
  void TieManyUnderOneCall(const std::vector<size_t>& alike);
  // Joins what was judged together, and stacks of one line that are to be blamed for the same place.
  void TieLines();
  bool OneLine(const Candidate& a, const Candidate& b) const;
  void TieByRelease();
  void JoinHeads();
  // Joins kept graphs, their private pools with all blocks in them, and their inputs.
  void TieGraphPools();
  bool Alike(const Candidate& a, const Candidate& b) const;
  bool SameStepsOf(const Candidate& a, const Candidate& b) const;
  bool GrowAlike(const Candidate& a, const Candidate& b) const;
  // Finds sites that allocate throughout the run and free. They distinguish loops from the functions called in them.
  void FindBystanders();
  bool LeavesSomeoneOut(const Candidate& candidate, size_t calls);
  bool LeadsToLeaksOnly(const Candidate& candidate, size_t calls);
  LeakLine LineOf(const std::vector<size_t>& members, const std::vector<size_t>& same_call, size_t* leader);
  size_t SharedCalls(const std::vector<size_t>& members) const;
  size_t Root(size_t index) const;
  void Tie(size_t a, size_t b);
  std::vector<std::vector<size_t>> Sets() const;

  ProcessAnalysis& analysis_;
  const LeakOrder order_;
  std::vector<Candidate> candidates_;
  mutable std::vector<size_t> parent_;  // a union-find forest over candidates_
  std::vector<std::vector<ReportFrame>> bystanders_;
  bool looked_for_bystanders_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_GROUPS_H_
