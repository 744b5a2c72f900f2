// SPDX-License-Identifier: Apache-2.0
//
// Chooses the path that holds most bytes. The shortest path to a block is often not the guilty one: a local variable
// holds the last entry of a list for a moment. So all blocks are put into one tree of their paths, and the choice goes
// down where most bytes are.
#ifndef ANALYZER_HOLDERS_HOLDER_CHOICE_H_
#define ANALYZER_HOLDERS_HOLDER_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/holders/path_text.h"
#include "analyzer/ingest/holder_walks.h"

namespace vramtrack {

// So many entries make a container a likely holder. In one with fewer, a larger container may be the holder.
constexpr size_t kSeveralEntries = 4;

// Returns 0 to 1; 0 of nothing.
inline double ShareOfBytes(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Blocks with one path.
struct HeldPath {
  HolderPathIndex path;
  uint64_t bytes = 0, objects = 0;
};

struct ChosenHolder {
  std::vector<PathStep> steps;                    // an entry that stands for several is HOLDER_ENTRY
  size_t holder = 0;                              // index of the step that leads to the object which holds
  bool entries = false;                           // the object is a container, and several of its entries hold
  uint64_t bytes = 0, objects = 0;                // with the whole path
  uint64_t holder_bytes = 0, holder_objects = 0;  // that the object holds
};

// Returns up to `most` holders that share no block, the one that holds most bytes first. Holders of less than `least`
// of all bytes are left out, 0 to 1. `held` has no path twice.
std::vector<ChosenHolder> ChooseHolders(const HolderPaths& paths, const HolderWalk& walk,
                                        const std::vector<HeldPath>& held, size_t most, double least);

// Returns whether a path leads through the object that was chosen.
bool IsHeldBy(const ChosenHolder& chosen, const std::vector<PathStep>& steps);

}  // namespace vramtrack

#endif  // ANALYZER_HOLDERS_HOLDER_CHOICE_H_
