// SPDX-License-Identifier: Apache-2.0
//
// Paths of Python names as text: `__main__.history[*]['loss'].grad_fn → saved by AddmmBackward0`.
#ifndef ANALYZER_HOLDERS_PATH_TEXT_H_
#define ANALYZER_HOLDERS_PATH_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/holder_walks.h"

namespace vramtrack {

// One step of a path, with the object that it leads to.
struct PathStep {
  uint32_t step = 0;  // schema::HolderStep
  std::string name, file, type;
  uint64_t entries = 0, objects = 0;
  HolderPathIndex path;   // none: a step that stands for several
  bool repeated = false;  // the same step follows itself
  uint64_t limit = 0;     // of the entries, 0: none is known
};

// Returns the steps of a path as a walk found it. Steps through the autograd graph are one, and so are three or more of
// the same name, such as those along a linked list.
std::vector<PathStep> PathSteps(const HolderPaths& paths, const HolderWalk& walk, HolderPathIndex path);

// Returns the first `count` steps as text. With `brief`, the module `__main__` and the function where the path begins
// are left out.
std::string PathText(const std::vector<PathStep>& steps, size_t count, bool brief = false);
inline std::string PathText(const std::vector<PathStep>& steps) { return PathText(steps, steps.size()); }

// Return what a step is about.
bool IsEntry(uint32_t step);  // an entry of a container
bool IsRoot(uint32_t step);   // where a path begins
bool IsGraph(uint32_t step);  // the autograd graph, or what it saved

}  // namespace vramtrack

#endif  // ANALYZER_HOLDERS_PATH_TEXT_H_
