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

namespace vramtrack {

struct LeakGroup {
  size_t leader = 0;                 // index into ProcessAnalysis::groups()
  std::vector<size_t> parts;         // indices like `leader`, without it; largest rate first
  std::optional<size_t> call_frame;  // frame of the leader: the one call that leads to all sites, if there is one

  // Returns the leader and the parts, ascending.
  std::vector<size_t> Members() const;
};

// Returns the leaks of a process: joins those that have the same device and level, leave something in the same steps,
// and are related by their stacks or by the order of allocations and releases; docs/leak-verdicts.md has the rules.
// Every leaking group of sites is in exactly one result.
std::vector<LeakGroup> FindLeaks(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_GROUPS_H_
