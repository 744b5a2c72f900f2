// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TRACED_STACKS_H_
#define ANALYZER_INGEST_TRACED_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/ingest/loaded_modules.h"

namespace vramtrack {

// Return addresses, innermost first. The frames live as long as the table and are not moved once it is frozen.
struct StackRef {
  const uint64_t* frames = nullptr;
  size_t count = 0;
  uint32_t module_epoch = 0;
  bool truncated = false;
};

// The stacks of a trace by the number that the trace gave them, and as distinct stacks: two threads that met a new
// stack at the same moment gave it two numbers, and a stack met again after a library went away has another number too.
class TracedStacks {
 public:
  // A number that is defined twice keeps its first definition.
  void Define(uint32_t id, const uint64_t* frames, size_t count, uint32_t module_epoch, bool truncated);
  // Finds out which numbers mean the same stack. `modules` must be frozen.
  void Freeze(const LoadedModules& modules);

  // Index of the distinct stack; 0, the empty stack, for a number that is not defined.
  uint32_t Distinct(uint32_t id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? 0 : entries_[found->second].distinct;
  }
  bool Defined(uint32_t id) const { return by_id_.count(id) != 0; }
  size_t distinct_count() const { return distinct_.size(); }
  StackRef Get(uint32_t distinct) const;

 private:
  struct Entry {
    size_t offset;
    uint32_t count, module_epoch, distinct;
    bool truncated;
  };

  StackRef RefOf(const Entry& entry) const;

  std::unordered_map<uint32_t, uint32_t> by_id_;  // index into entries_
  std::vector<Entry> entries_;
  std::vector<uint64_t> frames_;
  std::vector<uint32_t> distinct_ = {UINT32_MAX};  // index into entries_; the empty stack has none
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACED_STACKS_H_
